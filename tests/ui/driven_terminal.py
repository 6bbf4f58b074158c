"""A pseudo-terminal with a program in it: what it writes, and how it leaves the terminal."""

from __future__ import annotations

import os
import pty
import select
import struct
import sys
import termios
import time
from fcntl import ioctl
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 90.0
APART_S = 0.4
RESTORED = (b"\x1b[?1049l", b"\x1b[?25h", b"\x1b[?1000l", b"\x1b[?1004l", b"\x1b[23;0t")
"""The first screen again, the cursor, no mouse, no reports of focus, and the title of before."""


class Terminal:
    """A program that runs in a terminal of its own."""

    def __init__(self, *words: str, columns: int = 100, rows: int = 30, **env: str) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.chdir(ROOT)
            os.environ.update(TERM="xterm-256color", COLORTERM="truecolor")
            os.environ.update(COLUMNS=str(columns), LINES=str(rows), **env)
            os.environ.pop("NO_COLOR", None)
            os.execv(sys.executable, [sys.executable, *words])
        ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.modes = termios.tcgetattr(self._fd)
        self.written = bytearray()
        self._end = time.monotonic() + PATIENCE_S

    def type(self, keys: str) -> None:
        """Press keys, not so soon after the last ones that they look like typing."""
        time.sleep(APART_S)
        self._end = time.monotonic() + PATIENCE_S
        os.write(self._fd, keys.encode())

    def wait_for(self, text: bytes, after: int = 0) -> int:
        """Reads until this was written after that place; where it ends."""
        while (at := self.written.find(text, after)) < 0:
            assert time.monotonic() < self._end, bytes(self.written[-2000:])
            assert self._read(), bytes(self.written[-2000:])
        return at + len(text)

    def leave(self) -> int:
        """Reads until it ends; its exit code as a shell has it."""
        while self._read() and time.monotonic() < self._end:
            pass
        _, status = os.waitpid(self.pid, 0)
        os.close(self._fd)
        return os.waitstatus_to_exitcode(status)

    def _read(self) -> bool:
        """Takes what it wrote, if anything comes soon; whether it may go on."""
        if not select.select([self._fd], [], [], 0.2)[0]:
            return True
        try:
            more = os.read(self._fd, 65_536)
        except OSError:  # what Linux says once nobody holds the other end
            return False
        self.written += more
        return bool(more)
