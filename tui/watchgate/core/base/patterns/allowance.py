"""The processor time that one text may take, and the end of it.

Whoever runs the program says once what measures the time (`measure_by`); where nobody does, as in
most tests, there is no end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Clock = Callable[[], int]
"""Processor time of this thread so far, in nanoseconds."""

ALLOWED_NS = 45_000_000
"""Processor time for judging, and likewise for redacting, one text."""


class AllowanceSpent(Exception):
    """A text took all that it may, or is too long to be looked at; nothing is known of it."""


class _Measure:
    clock: Clock | None = None


_until_ns: ContextVar[int | None] = ContextVar("until_ns", default=None)
_pause: ContextVar[Callable[[int], None] | None] = ContextVar("pause", default=None)


def measure_by(clock: Clock | None) -> None:
    """Has every allowance from now on measured by this clock; None gives them no end."""
    _Measure.clock = clock


@contextmanager
def pausing(pause: Callable[[int], None]) -> Iterator[None]:
    """Has the work inside call `pause` with its processor time each time that it looks at it."""
    before = _pause.set(pause)
    try:
        yield
    finally:
        _pause.reset(before)


@contextmanager
def one_text(*, within: bool = False) -> Iterator[None]:
    """Gives the work inside `ALLOWED_NS` from now on; `within` other such work, what that has left.

    The work raises `AllowanceSpent` at its next `check` once they are over.
    """
    clock = _Measure.clock
    if clock is None or (within and _until_ns.get() is not None):
        yield
        return
    before = _until_ns.set(clock() + ALLOWED_NS)
    try:
        yield
    finally:
        _until_ns.reset(before)


@contextmanager
def uncounted() -> Iterator[None]:
    """Leaves the work inside out of what the text may take: it is done once, whatever the text."""
    clock, until_ns = _Measure.clock, _until_ns.get()
    if clock is None or until_ns is None:
        yield
        return
    began_ns = clock()
    try:
        yield
    finally:
        _until_ns.set(until_ns + clock() - began_ns)


def is_over() -> bool:
    """Returns whether the work that is under way has taken all that it may."""
    until_ns = _until_ns.get()
    return until_ns is not None and _Measure.clock is not None and _Measure.clock() > until_ns


def check() -> None:
    """Raises `AllowanceSpent` where the work has taken all that it may; pauses it if due."""
    until_ns = _until_ns.get()
    if until_ns is None or _Measure.clock is None:
        return
    now_ns = _Measure.clock()
    if now_ns > until_ns:
        raise AllowanceSpent
    pause = _pause.get()
    if pause is not None:
        pause(now_ns)
