"""Sends notifications, each tried twice at most: by a command of the user, or to a server."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import anyio

from watchgate.core.escalation import Due
from watchgate.service.boundary import contained
from watchgate.service.escalation.ways import Way

PAUSE_S = 1.0
"""How long after the first try the second one comes."""

ANSWERED = "it was answered while this was on its way; whether it arrived is not known"


class Desk(Protocol):
    """Knows the requests that notifications are about."""

    def body(self, request: str) -> bytes | None:
        """Returns the message about a request as it stands now; None once it needs none."""
        ...

    def notified(self, due: Due, detail: str) -> None:
        """Takes the outcome of a notification; `detail` is why it failed, or empty."""
        ...


class Line:
    """Queues what is due for one entry, and sends it in that order."""

    def __init__(self, way: Way, desk: Desk) -> None:
        self._way = way
        self._desk = desk
        self._waiting: deque[Due] = deque()
        self._came = anyio.Event()
        self._on_its_way: tuple[str, anyio.CancelScope] | None = None

    @property
    def busy(self) -> bool:
        """Returns whether a message is on its way, or its outcome not yet reported."""
        return self._on_its_way is not None

    def add(self, due: Due) -> None:
        """Queues one more; there are never more than open requests, as settled ones are let go."""
        self._waiting.append(due)
        self._came.set()

    def settled(self, request: str) -> None:
        """Drops the notification of a request that was answered."""
        self._waiting = deque(due for due in self._waiting if due.request != request)
        if self._on_its_way is not None and self._on_its_way[0] == request:
            self._on_its_way[1].cancel()

    async def run(self) -> None:
        """Sends until cancelled."""
        try:
            while True:
                while self._waiting:
                    await self._tell(self._waiting.popleft())
                self._came = anyio.Event()
                await self._came.wait()
        finally:
            self._way.close()

    async def _tell(self, due: Due) -> None:
        why = await self._try(due)
        if why and why != ANSWERED:
            with self._until_settled(due.request):
                await anyio.sleep(PAUSE_S)
            again = await self._try(due)
            why = why if again is None else again
        if why is not None:
            self._desk.notified(due, why)

    async def _try(self, due: Due) -> str | None:
        """Returns why sending failed, or ""; None where it is not needed any more."""
        body = self._desk.body(due.request)
        if body is None:
            return None
        ends = [ANSWERED]
        with (
            self._until_settled(due.request),
            contained(lambda fault: ends.append(f"internal error: {fault}")),
        ):
            ends.append(await self._way.tell(body))
        return ends[-1]

    @contextmanager
    def _until_settled(self, request: str) -> Iterator[None]:
        """Runs the block, unless the request is answered meanwhile."""
        with anyio.CancelScope() as scope:
            self._on_its_way = request, scope
            yield
        self._on_its_way = None
