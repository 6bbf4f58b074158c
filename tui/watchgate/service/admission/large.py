"""Reading of large frames and lines in threads: nobody else waits, and each agent's order stays."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Final, TypeVar

import anyio
from anyio import to_thread

from watchgate.core.patterns.allowance import pausing

T = TypeVar("T")

THREADS: Final = 2
WORK_NS: Final = 1_000_000
"""Processor time of a thread after which it pauses for `PAUSE_S`."""

PAUSE_S: Final = 0.002


class LargeFrames:
    """The turns of large frames and of later ones from the same asking process."""

    def __init__(self, asker_of: Callable[[int], Hashable]) -> None:
        self._asker_of = asker_of
        self._last: dict[Hashable, anyio.Event] = {}
        self._threads: anyio.CapacityLimiter | None = None

    @asynccontextmanager
    async def turn(self, pid: int, *, large: bool) -> AsyncIterator[None]:
        """Enters once every frame is taken that the same asker sent before a large one."""
        if not large and not self._last:
            yield
            return
        asker = self._asker_of(pid)
        key = pid if asker is None else asker
        before = self._last.get(key)
        if not large and before is None:
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
        """Returns the result of reading one large frame or line, in a thread that pauses."""
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(THREADS)

        def run() -> T:
            with pausing(_Pauses()):
                return read()

        return await to_thread.run_sync(run, limiter=self._threads)


class _Pauses:
    """Pauses of a thread, without which the loop would wait at each of its system calls."""

    def __init__(self) -> None:
        self._due_ns: int | None = None

    def __call__(self, now_ns: int) -> None:
        if self._due_ns is None or now_ns >= self._due_ns:
            time.sleep(PAUSE_S)
            self._due_ns = now_ns + WORK_NS
