"""The one shape of time that the core is given: it never reads a clock."""

from __future__ import annotations

from typing import Protocol

import msgspec


class Instant(msgspec.Struct, frozen=True, gc=False):
    """One moment on both clocks.

    `wall_us` is UTC in microseconds since the epoch and is only written down and shown;
    `mono_s` counts seconds including time asleep and is the only one that deadlines use.
    """

    wall_us: int
    mono_s: float

    def plus(self, seconds: float) -> Instant:
        """The moment `seconds` later, on both clocks."""
        return Instant(self.wall_us + round(seconds * 1_000_000), self.mono_s + seconds)


class Clock(Protocol):
    """Whatever can tell the present moment."""

    def now(self) -> Instant:
        """The present moment."""
        ...
