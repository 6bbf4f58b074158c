"""A scarce amount, handed out to processes: so much in all, and so much to one that asks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Literal

import anyio

Full = Literal["", "share", "most"]


class Shares:
    """Amounts by the process that holds them, and together by the agent above that process.

    `asker_of` names that agent for a pid. It is asked only once everybody together holds more than
    `share`: before, nobody can.
    """

    def __init__(self, limit: int, share: int, asker_of: Callable[[int], Hashable]) -> None:
        self.limit = limit
        self.share = share
        self.total = 0
        self._asker_of = asker_of
        self._held: dict[int, int] = {}
        self._askers: dict[int, Hashable] = {}
        self._freed: anyio.Event | None = None

    def take(self, pid: int, amount: int) -> Full:
        """Hands out so much, or returns the limit that is in the way."""
        if self.total + amount > self.limit:
            return "most"
        if self.total + amount > self.share and self._of_asker(pid) + amount > self.share:
            if pid not in self._held:
                del self._askers[pid]
            return "share"
        self.total += amount
        self._held[pid] = self._held.get(pid, 0) + amount
        return ""

    def give_back(self, pid: int, amount: int) -> None:
        """Takes back so much of what was handed out."""
        if not amount:
            return
        self.total -= amount
        self._held[pid] -= amount
        if not self._held[pid]:
            del self._held[pid]
            # The number may become another process's.
            self._askers.pop(pid, None)
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    @contextmanager
    def taken(self, pid: int, amount: int = 1) -> Iterator[Full]:
        """Holds so much for the block, or nothing where a limit is in the way."""
        full = self.take(pid, amount)
        try:
            yield full
        finally:
            if not full:
                self.give_back(pid, amount)

    @asynccontextmanager
    async def room(self, pid: int, amount: int) -> AsyncIterator[None]:
        """Holds so much for the block, once there is room; more than a share waits for ever."""
        while self.take(pid, amount):
            if self._freed is None:
                self._freed = anyio.Event()
            await self._freed.wait()
        try:
            yield
        finally:
            self.give_back(pid, amount)

    def holders(self) -> list[int]:
        """Returns the pids that hold any of it."""
        return [*self._held]

    def _of_asker(self, pid: int) -> int:
        asker = self._asker(pid)
        return sum(held for other, held in self._held.items() if self._asker(other) == asker)

    def _asker(self, pid: int) -> Hashable:
        if pid not in self._askers:
            self._askers[pid] = self._asker_of(pid)
        return self._askers[pid]
