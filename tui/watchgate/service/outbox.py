"""The bounded queue to one console: observations may be skipped, approvals never."""

from __future__ import annotations

from collections import deque

import anyio
import msgspec

from watchgate.core.records import Record
from watchgate.link.protocol import Push
from watchgate.service.thinning import Thinning

LIMIT_BYTES = 8 * 1024 * 1024
_NEVER_SKIPPED = ("approval.", "effect.", "grant.", "policy.")


class Outbox:
    """Lines for one connection, in order; skipped records become a gap line."""

    def __init__(self, *, limit_bytes: int = LIMIT_BYTES) -> None:
        self.sampler: Thinning | None = None
        self._lines: deque[bytes] = deque()
        self._size_bytes = 0
        self._limit_bytes = limit_bytes
        self._gap: tuple[int, int] | None = None
        self._filled = anyio.Event()
        self._taken = anyio.Event()
        self._ended = False

    def put(self, line: bytes) -> None:
        """Adds a line that must arrive."""
        self._lines.append(line)
        self._size_bytes += len(line)
        self._filled.set()

    def offer(self, record: Record) -> None:
        """Adds a record, or counts it into the gap when sampled out or the console is too slow."""
        spare = self._size_bytes < self._limit_bytes
        spared = self.sampler is not None and not self.sampler.passes(record)
        if spared or (not spare and not record.kind.startswith(_NEVER_SKIPPED)):
            first = self._gap[0] if self._gap else record.seq
            self._gap = (first, record.seq)
            return
        self._close_gap()
        self.put(msgspec.json.encode(Push(record=record)) + b"\n")

    def skip(self, first: int, last: int) -> None:
        """Adds a gap line: these records are not sent and have to be fetched with `history`."""
        self.put(msgspec.json.encode(Push(gap=(first, last))) + b"\n")

    async def take(self) -> bytes:
        """Returns everything that waits, as soon as there is anything."""
        while not self._lines:
            self._filled = anyio.Event()
            await self._filled.wait()
        self._close_gap()
        data = b"".join(self._lines)
        self._lines.clear()
        self._size_bytes = 0
        self._taken.set()
        return data

    def end(self) -> None:
        """Notes that nothing more is sent."""
        self._ended = True
        self._taken.set()

    async def room(self) -> bool:
        """Waits until there is room for an answer; False when nothing more is sent."""
        while self._size_bytes >= self._limit_bytes and not self._ended:
            self._taken = anyio.Event()
            await self._taken.wait()
        return not self._ended

    def _close_gap(self) -> None:
        if self._gap is not None:
            gap, self._gap = self._gap, None
            self.skip(*gap)
