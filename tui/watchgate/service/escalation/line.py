"""The line to one who is told of requests: one message at a time, each tried twice at most."""

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
    """Whoever knows the requests that somebody is told of."""

    def body(self, request: str) -> bytes | None:
        """The message about a request as it stands now; None once nobody has to be told of it."""
        ...

    def told(self, due: Due, detail: str) -> None:
        """Somebody was told; `detail` says why not, where that failed."""
        ...


class Line:
    """Takes what is due for one entry, and tells it in that order."""

    def __init__(self, way: Way, desk: Desk) -> None:
        self._way = way
        self._desk = desk
        self._waiting: deque[Due] = deque()
        self._came = anyio.Event()
        self._on_its_way: tuple[str, anyio.CancelScope] | None = None

    @property
    def busy(self) -> bool:
        """Whether a message is on its way, or what became of it not yet told."""
        return self._on_its_way is not None

    def add(self, due: Due) -> None:
        """One more to tell; there are never more than open requests, as settled ones are let go."""
        self._waiting.append(due)
        self._came.set()

    def settled(self, request: str) -> None:
        """A request was answered: nobody is told of it any more."""
        self._waiting = deque(due for due in self._waiting if due.request != request)
        if self._on_its_way is not None and self._on_its_way[0] == request:
            self._on_its_way[1].cancel()

    async def run(self) -> None:
        """Tell until cancelled."""
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
            self._desk.told(due, why)

    async def _try(self, due: Due) -> str | None:
        """Why it could not be told, empty where it was; None where nobody has to be any more."""
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
        """Run the block, unless the request is answered meanwhile."""
        with anyio.CancelScope() as scope:
            self._on_its_way = request, scope
            yield
        self._on_its_way = None
