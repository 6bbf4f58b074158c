"""The one place that reads the clock, and its stand-in for tests, which moves only on request."""

from __future__ import annotations

import time

from watchgate.core.base.clock import Instant

# Linux stops CLOCK_MONOTONIC during sleep and has CLOCK_BOOTTIME; on macOS it goes on by itself.
_COUNTS_SLEEP = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


class SystemClock:
    """The machine's clocks: UTC, and seconds that include time asleep."""

    def now(self) -> Instant:
        """Returns the present moment."""
        return Instant(time.time_ns() // 1_000, time.clock_gettime(_COUNTS_SLEEP))


class FakeClock:
    """A clock that stands still at `start` until it is advanced."""

    def __init__(self, start: Instant) -> None:
        self._now = start

    def now(self) -> Instant:
        """Returns the moment it was last moved to."""
        return self._now

    def advance(self, seconds: float) -> Instant:
        """Moves on and returns the new moment."""
        self._now = self._now.plus(seconds)
        return self._now
