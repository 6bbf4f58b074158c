"""Large frames are read in threads, so that nobody else waits; their own agent's order stays."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio
from anyio import to_thread

T = TypeVar("T")

LARGE_BYTES: Final = 64 * 1024
"""Frames longer than this are read in a thread."""

THREADS: Final = 2


class LargeFrames:
    """The turns of large frames and of what comes behind them from the same asking process."""

    def __init__(self, asker_of: Callable[[int], Hashable]) -> None:
        self._asker_of = asker_of
        self._last: dict[Hashable, anyio.Event] = {}
        self._threads: anyio.CapacityLimiter | None = None

    @asynccontextmanager
    async def turn(self, pid: int, size_bytes: int) -> AsyncIterator[None]:
        """Go on inside once every frame is taken that the same asker sent before a large one."""
        if size_bytes <= LARGE_BYTES and not self._last:
            yield
            return
        asker = self._asker_of(pid)
        key = pid if asker is None else asker
        before = self._last.get(key)
        if size_bytes <= LARGE_BYTES and before is None:
            yield
            return
        mine = self._last[key] = anyio.Event()
        try:
            if before is not None:
                await before.wait()
            yield
        finally:
            mine.set()
            if self._last.get(key) is mine:
                del self._last[key]

    async def read(self, read: Callable[[], T]) -> T:
        """The result of reading one large frame, in a thread."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)
        return await to_thread.run_sync(read, limiter=self._threads)
