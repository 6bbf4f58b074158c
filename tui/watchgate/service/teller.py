"""Forwarding of observed messages to the core, in order, beside the stream they come from.

The stream never waits for the core: what cannot be sent in time waits in a bounded queue, the
oldest giving way to the newest, and without a core it is let go.
"""

from __future__ import annotations

from collections import deque

import anyio

from watchgate.agents.proxied.wire import Seen
from watchgate.service.ingest_client import IngestClient

LIMIT_BYTES = 8 * 1024 * 1024
TAKEN_S = 10.0
"""Seconds that a busy core may take to read one observation. Nobody waits for that meanwhile."""

AGAIN_S = 2.0
CATCH_UP_S = 1.0


class Teller:
    """Sends the core one observation after the other; `run` does it."""

    def __init__(self, core: IngestClient) -> None:
        self._core = core
        self._waiting: deque[Seen] = deque()
        self._bytes = 0
        self._more = anyio.Event()
        self._idle = anyio.Event()
        self._idle.set()
        self.lost = 0

    def add(self, observed: Seen) -> None:
        """Queues an observation."""
        self._waiting.append(observed)
        self._bytes += len(observed.payload)
        while self._bytes > LIMIT_BYTES and len(self._waiting) > 1:
            self._bytes -= len(self._waiting.popleft().payload)
            self.lost += 1
        self._idle = anyio.Event() if self._idle.is_set() else self._idle
        self._more.set()

    async def run(self) -> None:
        """Sends the queue until cancelled."""
        while True:
            while self._waiting:
                observed = self._waiting.popleft()
                self._bytes -= len(observed.payload)
                if not await self._core.tell(observed, within_s=TAKEN_S):
                    self.lost += 1
                    await self._without_core()
            self._idle.set()
            self._more = anyio.Event()
            await self._more.wait()

    async def caught_up(self) -> None:
        """Returns once the queue is sent, or a moment has passed: the next request relies on it."""
        with anyio.move_on_after(CATCH_UP_S):
            await self._idle.wait()

    async def _without_core(self) -> None:
        """Drops the queue that nobody takes, and waits before the next try."""
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self._idle.set()
        await anyio.sleep(AGAIN_S)
