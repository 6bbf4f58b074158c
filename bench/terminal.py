"""A module of ours in a pseudo-terminal: what it draws is read, and keys can be pressed."""

from __future__ import annotations

import os
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

SCREEN = (120, 40)
KEPT_BYTES = 65_536
NOTHING: Mapping[str, str] = {}


class Terminal:
    """The other end of a program's pseudo-terminal."""

    def __init__(self, terminal: int, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self._terminal = terminal

    def write(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._terminal, keys)

    def read(self) -> bytes:
        """What is drawn next; raises `EOFError` when nothing will be."""
        select.select([self._terminal], [], [])
        try:
            data = os.read(self._terminal, KEPT_BYTES)
        except OSError:
            raise EOFError from None
        if not data:
            raise EOFError
        return data

    def drain(self, seconds: float) -> None:
        """Reads whatever is drawn for so long."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([self._terminal], [], [], left)[0]:
                self.read()

    def until(self, seen: re.Pattern[bytes]) -> None:
        """Reads until this was drawn."""
        drawn = b""
        while seen.search(drawn) is None:
            drawn = drawn[-KEPT_BYTES:] + self.read()


@contextmanager
def terminal(*module: str, environment: Mapping[str, str] = NOTHING) -> Iterator[Terminal]:
    """A module that runs in a pseudo-terminal; its end is awaited."""
    outside, inside = os.openpty()
    columns, lines = SCREEN
    seen = {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    size = {"COLUMNS": str(columns), "LINES": str(lines)}
    # Not pty.fork: a child forked from a parent as large as this one pays for the parent's pages.
    process = subprocess.Popen(
        [sys.executable, "-m", *module],
        stdin=inside,
        stdout=inside,
        stderr=inside,
        env={**os.environ, **seen, **size, **environment},
        start_new_session=True,
    )
    os.close(inside)
    try:
        yield Terminal(outside, process)
    except BaseException:
        process.kill()
        raise
    finally:
        os.close(outside)
        process.wait()
