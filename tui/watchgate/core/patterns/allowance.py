"""The processor time that one text may take, and the end of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Clock = Callable[[], int]
"""Processor time of this thread so far, in nanoseconds."""

ALLOWED_NS = 50_000_000
"""What judging, and likewise redacting, one text may take."""


class Spent(Exception):
    """A text took all that it may; nothing is known of it."""


class Allowance:
    """What one piece of work may take, asked between steps that are short by themselves."""

    def __init__(self, clock: Clock, allowed_ns: int = ALLOWED_NS) -> None:
        self._clock = clock
        self._until_ns = clock() + allowed_ns

    def check(self) -> None:
        """Raise `Spent` once the time is over."""
        if self._clock() > self._until_ns:
            raise Spent


_current: ContextVar[Allowance | None] = ContextVar("allowance", default=None)


@contextmanager
def within(allowance: Allowance | None) -> Iterator[None]:
    """Have `check` hold the work inside to this allowance; None gives it no end."""
    before = _current.set(allowance)
    try:
        yield
    finally:
        _current.reset(before)


def check() -> None:
    """Raise `Spent` where the work that is under way has taken all that it may."""
    if (allowance := _current.get()) is not None:
        allowance.check()
