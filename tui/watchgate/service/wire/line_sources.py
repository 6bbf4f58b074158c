"""The senders of lines: one source for each process, whatever number of connections it has.

Some programs open a connection for every event, so a source outlives its connections; and a number
names another process once the one that had it is gone, so the time of its start belongs to it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import anyio

from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.bounded import Recent
from watchgate.service.system.process_table import parse_stat
from watchgate.service.system.system_clock import SystemClock

MAX_SOURCES = 256
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class LineConnection:
    """One connection of a source; `streams` says that it brought more than one line."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.streams = False
        self._lines = 0

    def count(self, whole: bytes) -> None:
        """Counts the lines that came over it."""
        if not self.streams:  # to count the lines of a long stream would cost as much as a decode
            self._lines += whole.count(b"\n")
            self.streams = self._lines > 1


class LineSources:
    """The latest sources; `started_us` returns the start of a process (UTC µs)."""

    def __init__(self, started_us: Callable[[int], int | None] | None = None) -> None:
        self._started_us = started_us or process_start_us
        self._known: Recent[tuple[int, int | None], Source] = Recent(MAX_SOURCES)
        self._open: dict[int, int] = {}
        self._nameless = 0

    @contextmanager
    def connected(self, pid: int, gone: Callable[[Source], None]) -> Iterator[LineConnection]:
        """Yields the link of one connection while it lasts.

        `gone` is called when the sender ends the last one of a source and it was a stream. One line
        alone says nothing about what comes next: its sender may open a connection for each.
        """
        source = self._source(pid)
        link = LineConnection(source)
        key = id(source)
        self._open[key] = self._open.get(key, 0) + 1
        ended = False
        try:
            yield link
            ended = True
        except anyio.BrokenResourceError:
            ended = True
            raise
        finally:
            # Whatever else ends it is our own doing, and tells nothing of the sender.
            self._open[key] -= 1
            if not self._open[key]:
                del self._open[key]
                if ended and link.streams:
                    gone(source)

    def _source(self, pid: int) -> Source:
        began_us = self._started_us(pid) if pid else None
        if began_us is None:
            # A sender that ended while its last lines still waited to be read.
            began_us = next((began for known, began in reversed(self._known) if known == pid), None)
        if began_us is None and not (pid and sys.platform == "darwin"):
            # Gone already, or in another container: nothing tells two of these apart.
            self._nameless += 1
            return Source(f"pid {pid or 'unknown'}, connection {self._nameless}", pid=pid)
        known = self._known.get((pid, began_us)) or Source(_guess(pid, began_us), pid=pid)
        self._known.renew((pid, began_us), known)
        return known


def process_start_us(pid: int) -> int | None:
    """Returns the start of a process in UTC µs; None where it is gone or the system hides it."""
    try:
        ticks = int(parse_stat(Path(f"/proc/{pid}/stat").read_bytes()).start)
    except (OSError, ValueError, IndexError):
        return None
    return _booted_us() + ticks * 1_000_000 // os.sysconf("SC_CLK_TCK")


@cache
def _booted_us() -> int:
    """Returns the start of this machine: read once, so that setting the clock renames no source."""
    now = SystemClock().now()
    return now.wall_us - round(now.mono_s * 1_000_000)


def _guess(pid: int, began_us: int | None) -> str:
    if began_us is None:
        return f"pid {pid}"
    began = (_EPOCH + timedelta(microseconds=began_us)).astimezone()
    return f"pid {pid} at {began:%H:%M:%S}"
