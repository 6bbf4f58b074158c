"""A console to be measured: attached for a while, or only until its first screen."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.popup_app import OwnProcess
from watchgate.ui.source.record_source import LinkSource

SETTLE_S = 2.0


class FirstScreen(OwnProcess):
    """Leaves as soon as its first picture was drawn."""

    def on_ready(self) -> None:
        self.call_after_refresh(os._exit, 0)


class Measured(OwnProcess):
    """Writes the CPU seconds that it used per second, once it has settled."""

    def __init__(self, socket: Path, seconds: float, result: Path) -> None:
        super().__init__(LinkSource(socket), SystemClock())
        self._seconds = seconds
        self._result = result
        self._start = (0.0, 0.0)

    def on_ready(self) -> None:
        self.set_timer(SETTLE_S, self._begin)

    def _begin(self) -> None:
        self._start = (time.process_time(), time.monotonic())
        self.set_timer(self._seconds, self._end)

    def _end(self) -> None:
        cpu, wall = self._start
        share = (time.process_time() - cpu) / (time.monotonic() - wall)
        self._result.write_text(f"{share} {len(self.bridge.state.rows)} {self.bridge.skipped}")
        os._exit(0)


if __name__ == "__main__":
    # No argument parser: importing one would be measured with the first screen.
    SOCKET, *measured = sys.argv[1:]
    if measured:
        Measured(Path(SOCKET), float(measured[0]), Path(measured[1])).run()
    else:
        FirstScreen(LinkSource(Path(SOCKET)), SystemClock()).run()
