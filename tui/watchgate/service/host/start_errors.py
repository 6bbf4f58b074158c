"""The errors by which a core refuses to start, as one kind for the program that starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from watchgate.service.hub.components import ComponentError
from watchgate.service.journal.schema import JournalError
from watchgate.service.system.runtime_dir import (
    AlreadyServed,
    CannotServe,
    CoreRunningError,
    RuntimeDirError,
)
from watchgate.service.wire.agent_adapters import AgentsError

_REASONS = (AgentsError, ComponentError, RuntimeDirError, JournalError)


@contextmanager
def reasons_not_to_serve() -> Iterator[None]:
    """Raises every reason not to start as `CannotServe`, also out of groups of errors."""
    try:
        yield
    except BaseException as error:
        first = first_of(error, *_REASONS)
        if first is None:
            raise
        kind = AlreadyServed if isinstance(first, CoreRunningError) else CannotServe
        raise kind(str(first)) from None


def first_of(error: BaseException, *kinds: type[BaseException]) -> BaseException | None:
    """Returns the first of an error or of a group, if all of them are of these kinds.

    `except*` will not do where another error is raised from: Python 3.11.0 to 3.11.3 make a group
    of that one.
    """
    if not isinstance(error, BaseExceptionGroup):
        return error if isinstance(error, kinds) else None
    firsts = [first_of(each, *kinds) for each in error.exceptions]
    return firsts[0] if all(firsts) else None
