"""A command at a pseudo-terminal: what a person would see of it and type into it."""

from __future__ import annotations

import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import sys
import termios
import time
from types import TracebackType
from typing import Self

WAIT_S = 60.0
BY_HAND_S = 0.06
"""A hand types no faster than this."""

_OWN = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
_OWN += "os.execv(sys.argv[1], sys.argv[1:])"
"""Makes the terminal that of the session, as a shell's is, and becomes the command."""


class Terminal:
    """One `watchgate` command with a terminal at both ends."""

    def __init__(self, *args: str, size: tuple[int, int] = (120, 60)) -> None:
        self.seen = ""
        # What is read may end within a character.
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._master, slave = pty.openpty()
        columns, rows = size
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _OWN, sys.executable, "-m", "watchgate", *args],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
                # As it is: readline in this process sets the size of its own terminal beside it.
                env=dict(os.environ),
            )
        finally:
            os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self._master)

    def wait_for(self, text: str, times: int = 1) -> None:
        """Reads until this text has been shown so many times."""
        end = time.monotonic() + WAIT_S
        while self.seen.count(text) < times:
            going_on = time.monotonic() < end and self._read()
            assert going_on or self.seen.count(text) >= times, f"no {text!r} in {self.seen!r}"

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._master, text.encode())

    def by_hand(self, text: str, *, behind: str) -> None:
        """Press these keys as a person does, each once the one before is shown behind a prompt."""
        for count, key in enumerate(text, 1):
            self.type(key)
            if count < len(text):
                self.wait_for(behind + text[:count])
            time.sleep(BY_HAND_S)

    def code(self) -> int:
        """How it ended; everything it showed is in `seen`."""
        end = time.monotonic() + WAIT_S
        while time.monotonic() < end and self._read():
            pass
        return self.process.wait(timeout=WAIT_S)

    def _read(self) -> bool:
        readable, _, _ = select.select([self._master], [], [], 0.5)
        if not readable:
            return self.process.poll() is None
        try:
            data = os.read(self._master, 65536)
        except OSError:  # Linux says EIO when the last process has closed its end
            return False
        self.seen += self._decoder.decode(data)
        return bool(data)
