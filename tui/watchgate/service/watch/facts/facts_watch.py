"""Looks at what each new request would touch, off the decision path and for a moment only."""

from __future__ import annotations

import time
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from watchgate.core.base.clock import Clock
from watchgate.core.gate import record_builders
from watchgate.core.model.records import Fact, FactsData, Record
from watchgate.core.model.requests import ApprovalRequest
from watchgate.service.hub.hub import Hub
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.watch.facts.fact_finder import facts, looks

LIMIT_S = 0.3
_AT_ONCE = 4
_MAX_LOOKS = 6


class FactsWatch:
    """Watches for new requests, and records the facts about each."""

    def __init__(self, hub: Hub, clock: Clock, *, home: str) -> None:
        self._hub = hub
        self._clock = clock
        self._home = home
        self._tasks: TaskGroup | None = None
        self._room = anyio.CapacityLimiter(_AT_ONCE)

    async def run(self) -> None:
        """Looks until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            await anyio.sleep_forever()

    def offer(self, record: Record) -> None:
        """Takes a record; a new request is looked at, unless there is no room for that."""
        full = self._room.available_tokens == 0
        if record.kind != "approval.requested" or self._tasks is None or full:
            return
        self._tasks.start_soon(self._look, record.request or "")

    async def _look(self, request_id: str) -> None:
        request = self._hub.engine.broker.open.get(request_id)
        if request is None:
            return
        async with self._room:
            with contain_errors(self._failed):
                await self._tell(request)

    async def _tell(self, request: ApprovalRequest) -> None:
        collected: list[Fact] = []
        wanted = list(looks(request.data, self._home))[:_MAX_LOOKS]
        if not wanted:
            return
        late = _after(LIMIT_S)
        with anyio.move_on_after(LIMIT_S) as scope:
            for look in wanted:
                collected += await facts(look, late)
        if (collected or scope.cancelled_caught) and request.open:
            data = FactsData(facts=tuple(collected), cut=scope.cancelled_caught)
            now = self._clock.now()
            self._hub.execute([record_builders.about(request, "approval.facts", data, now)])

    def _failed(self, fault: str) -> None:
        self._hub.recorder.internal_error(fault, "a look at what a request would touch")


def _after(seconds: float) -> Callable[[], bool]:
    """Returns a function that says whether so many seconds have passed from now."""
    end_s = time.monotonic() + seconds
    return lambda: time.monotonic() >= end_s
