"""The queue in front of one sink, bounded in records and bytes, and the counts of what is lost."""

from __future__ import annotations

from collections import deque

import anyio
import anyio.lowlevel

from watchgate.core.records import Record
from watchgate.service.boundary import contained
from watchgate.service.sinks.counters import Tally
from watchgate.service.sinks.envelope import Wrap

LIMIT_BYTES = 32 * 1024 * 1024
FULL = "its reader is slower than the records come"
CLOSED = "it was closed before they were delivered"
TURN_BYTES = 64 * 1024
"""After so many bytes of writing, others get their turn."""


class Waiting:
    """Turns records into lines in a task of its own, so that whoever offers one never pays.

    No more than `limit` records wait, and no more than `limit_bytes` of lines.
    """

    def __init__(
        self, wrap: Wrap, tally: Tally, *, limit: int, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        self._wrap = wrap
        self._tally = tally
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._records: deque[Record] = deque()
        self._lines: deque[bytes] = deque()
        self._size_bytes = 0
        self._offered = anyio.Event()
        self._packed = anyio.Event()
        self._ended = False

    def __len__(self) -> int:
        return len(self._records) + len(self._lines)

    def offer(self, record: Record) -> None:
        """Takes a record, dropping the oldest if there is no room; costs the same at any size."""
        if self._ended:
            self._tally.lose(1, CLOSED)
            return
        self._records.append(record)
        self._trim()
        self._offered.set()

    async def pack(self) -> None:
        """Turns records into lines, for as long as the sink runs."""
        while True:
            written_bytes = 0
            while self._records and written_bytes < TURN_BYTES:
                written_bytes += self._pack_one()
            if self._records:
                await anyio.lowlevel.checkpoint()
            elif self._ended:
                return
            else:
                self._offered = anyio.Event()
                await self._offered.wait()

    async def take(self, count: int, size_bytes: int) -> list[bytes]:
        """Returns the oldest lines, at least one and within both limits; none once it has ended."""
        while not self._lines:
            if self._ended and not self._records:
                return []
            self._packed = anyio.Event()
            await self._packed.wait()
        taken = [self._pop()]
        left_bytes = size_bytes - len(taken[0])
        while self._lines and len(taken) < count and len(self._lines[0]) <= left_bytes:
            taken.append(self._pop())
            left_bytes -= len(taken[-1])
        return taken

    def give_back(self, lines: list[bytes]) -> None:
        """Puts back what could not be delivered yet; as the oldest it is dropped first."""
        self._lines.extendleft(reversed(lines))
        self._size_bytes += sum(map(len, lines))
        self._trim()

    def clear(self) -> int:
        """Throws away everything that waits; returns how many records that were."""
        count = len(self)
        self._records.clear()
        self._lines.clear()
        self._size_bytes = 0
        return count

    def end(self) -> None:
        """Takes nothing more; what waits can still be taken."""
        self._ended = True
        self._offered.set()
        self._packed.set()

    def _pack_one(self) -> int:
        record, line = self._records.popleft(), b""
        with contained(self._tally.broken):
            line = self._wrap(record)
        if not line:
            return 0
        self._lines.append(line)
        self._size_bytes += len(line)
        self._trim()
        self._packed.set()
        return len(line)

    def _pop(self) -> bytes:
        line = self._lines.popleft()
        self._size_bytes -= len(line)
        return line

    def _trim(self) -> None:
        while len(self) > self._limit or (self._size_bytes > self._limit_bytes and self._lines):
            if self._lines:
                self._pop()
            else:
                self._records.popleft()
            self._tally.lose(1, FULL)
