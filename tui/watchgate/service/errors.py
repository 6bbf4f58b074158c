"""Why a core may not start, as one kind of error for whoever starts it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from watchgate.service.agents import AgentsError
from watchgate.service.equipment import EquipmentError
from watchgate.service.journal_schema import JournalError
from watchgate.service.runtime_dir import CoreRunningError, RuntimeDirError


class CannotServe(Exception):
    """The core refuses to start; the message names the fault and the mend."""


class AlreadyServed(CannotServe):
    """Another core has this place, or is about to."""


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
