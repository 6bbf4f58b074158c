"""Why a core may not start, as one kind of error for whoever starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from watchgate.service.agents import AgentsError
from watchgate.service.cannot_serve import AlreadyServed, CannotServe
from watchgate.service.equipment import EquipmentError
from watchgate.service.journal.schema import JournalError
from watchgate.service.runtime_dir import CoreRunningError, RuntimeDirError


@contextmanager
def reasons_not_to_serve() -> Iterator[None]:
    """Raise what a core may refuse for as `CannotServe`, also out of groups of errors."""
    try:
        yield
    except* (AgentsError, EquipmentError, RuntimeDirError, JournalError) as group:
        first = _first(group)
        kind = AlreadyServed if isinstance(first, CoreRunningError) else CannotServe
        raise kind(str(first)) from None


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
