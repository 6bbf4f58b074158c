"""`watchgate serve` with a fault of its own: `python -m tests.faults.flawed FLAW serve`.

What no signal and no file can bring about from outside: an error within one call, a task that
crashes, and a clock that jumps (by the numbers in a file: seconds of the wall, seconds that count
towards deadlines).
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import anyio

from watchgate.cli import main
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event
from watchgate.service.host.core_host import CoreHost
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.interfaces import PendingReply
from watchgate.service.system.system_clock import SystemClock


def fails_over_calls() -> None:
    """Every call that waits meets an error of this program."""

    def event(self: Hub, event: Event, conn: PendingReply, now: Instant) -> None:
        raise RuntimeError

    Hub.event = event  # type: ignore[method-assign]  # the flaw


def crashes() -> None:
    """A task of the core ends with an error when SIGUSR1 comes."""

    async def stop_on_signal(self: CoreHost) -> None:
        with anyio.open_signal_receiver(signal.SIGUSR1) as signals:
            async for _ in signals:
                raise RuntimeError

    CoreHost.stop_on_signal = stop_on_signal  # type: ignore[method-assign]  # the flaw


def jumps() -> None:
    """The clock is off by what a file says."""
    real, file = SystemClock.now, Path(os.environ["WATCHGATE_TEST_CLOCK"])

    def now(self: SystemClock) -> Instant:
        wall_s, mono_s = map(int, file.read_text().split()) if file.exists() else (0, 0)
        found = real(self)
        return Instant(found.wall_us + wall_s * 1_000_000, found.mono_s + mono_s)

    SystemClock.now = now  # type: ignore[method-assign]  # the flaw


FLAWS: dict[str, Callable[[], None]] = {
    "fails-over-calls": fails_over_calls,
    "crashes": crashes,
    "jumps": jumps,
}

if __name__ == "__main__":
    FLAWS[sys.argv[1]]()
    del sys.argv[1]
    sys.exit(main())
