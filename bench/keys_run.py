"""A console to be measured by its keys: attached, and its ring is full."""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from bench.console_feed import record
from watchgate.service.system.system_clock import SystemClock
from watchgate.ui.console.popup_app import OwnProcess
from watchgate.ui.source.record_source import LinkSource

AGO_US = 300 * 1_000_000


class Filled(OwnProcess):
    """Fills its ring once it is attached, and says so by a file."""

    def __init__(self, socket: Path, rows: int, ready: Path) -> None:
        super().__init__(LinkSource(socket), SystemClock())
        self._wanted = rows
        self._filled = ready

    def on_ready(self) -> None:
        self.call_later(self._fill)

    def _fill(self) -> None:
        state = self.bridge.state
        if self.bridge.link.state != "attached":
            self.set_timer(0.1, self._fill)
            return
        # Long ago: where calls came within the last minute, lines of bars move by the second.
        first_us = self.bridge.now_us() - AGO_US - self._wanted * 1_000
        for number in range(2 * self._wanted):
            # Calls of their own names: those of the feed begin anew at the first.
            told = record(number + 1, first_us + number * 500)
            state.apply(msgspec.structs.replace(told, call=f"old-{told.call}"))
        state.seq = 0
        self._filled.write_text(str(len(state.rows)))


if __name__ == "__main__":
    SOCKET, ROWS, READY = sys.argv[1:]
    Filled(Path(SOCKET), int(ROWS), Path(READY)).run()
