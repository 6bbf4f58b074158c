"""A command at a pseudo-terminal: what a person would see of it and type into it."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Self

WAIT_S = 60.0


class Terminal:
    """One `watchgate` command with a terminal at both ends."""

    def __init__(self, *args: str) -> None:
        self.seen = ""
        self._master, slave = pty.openpty()
        try:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "watchgate", *args],
                stdin=slave,
                stdout=slave,
                stderr=slave,
                start_new_session=True,
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

    def wait_for(self, text: str) -> None:
        """Read until this text has been shown."""
        end = time.monotonic() + WAIT_S
        while text not in self.seen:
            going_on = time.monotonic() < end and self._read()
            assert going_on or text in self.seen, f"no {text!r} in {self.seen!r}"

    def type(self, text: str) -> None:
        """Press these keys."""
        os.write(self._master, text.encode())

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
        self.seen += data.decode()
        return bool(data)
