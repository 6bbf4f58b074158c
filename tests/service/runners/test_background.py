"""Observers run behind the decision, and every one of them is accounted for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import anyio
import anyio.lowlevel
import msgspec

from watchgate.core.dispatch.presets import CODEWHALE_SINKS, CODEX_FORK_V2, CONSOLE, DispatchPolicy
from watchgate.core.model.verdicts import Defer, Failed, Report
from watchgate.service.runners.handler_runner import ObserverQueue

SAID = Report(verdict=Defer("seen"))
ONE_AT_ONCE = msgspec.structs.replace(CONSOLE, observers_at_once=1)


class Observer:
    """Runs until it is let go; counts how many of them run at once."""

    def __init__(self) -> None:
        self.let_go = anyio.Event()
        self.running = self.most = 0
        self.reports: list[Report] = []

    async def __call__(self) -> Report:
        self.running += 1
        self.most = max(self.most, self.running)
        await self.let_go.wait()
        self.running -= 1
        return SAID

    def causes(self) -> list[str]:
        return [each.verdict.cause for each in self.reports if isinstance(each.verdict, Failed)]


async def settled(is_so: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not is_so():
            await anyio.lowlevel.checkpoint()


async def serving(
    preset: DispatchPolicy, each: Callable[[ObserverQueue, Observer], Awaitable[None]]
) -> Observer:
    """A queue that is served, and what its observers reported when it is no more."""
    queue, observer = ObserverQueue(preset), Observer()
    async with anyio.create_task_group() as group:
        await group.start(queue.serve)
        await each(queue, observer)
        group.cancel_scope.cancel()
    return observer


async def test_cw_28_two_run_thirty_two_wait_and_the_rest_is_dropped_with_a_warning() -> None:
    async def each(queue: ObserverQueue, observer: Observer) -> None:
        for _ in range(2):
            queue.offer(observer, observer.reports.append)
        await settled(lambda: observer.running == 2)
        for _ in range(35):
            queue.offer(observer, observer.reports.append)
        assert observer.causes() == ["crowded"] * 3
        verdict = observer.reports[0].verdict
        assert isinstance(verdict, Failed)
        assert verdict.detail == "dropped: 32 observers wait already; this one never ran"
        observer.let_go.set()
        await settled(lambda: len(observer.reports) == 37)

    observer = await serving(CODEWHALE_SINKS, each)
    assert observer.most == 2
    assert observer.reports.count(SAID) == 34


async def test_cx_45_asynchronous_hooks_have_a_limit_of_ten_of_their_own() -> None:
    async def each(queue: ObserverQueue, observer: Observer) -> None:
        for _ in range(25):
            queue.offer(observer, observer.reports.append)
        await settled(lambda: observer.running == 10)
        observer.let_go.set()
        await settled(lambda: len(observer.reports) == 25)

    observer = await serving(CODEX_FORK_V2, each)
    assert observer.most == 10
    assert observer.causes() == []


async def test_when_the_core_stops_every_one_is_told_what_became_of_it() -> None:
    async def each(queue: ObserverQueue, observer: Observer) -> None:
        for _ in range(3):
            queue.offer(observer, observer.reports.append)
        await settled(lambda: observer.running == 1)

    observer = await serving(ONE_AT_ONCE, each)
    details = [each.verdict.detail for each in observer.reports if isinstance(each.verdict, Failed)]
    assert sorted(details) == [
        "dropped: the core stopped before it ran",
        "dropped: the core stopped before it ran",
        "ended early: the core stopped",
    ]


async def test_after_that_it_takes_none() -> None:
    queues: list[ObserverQueue] = []

    async def each(queue: ObserverQueue, _: Observer) -> None:
        queues.append(queue)

    observer = await serving(CONSOLE, each)
    queues[0].offer(observer, observer.reports.append)
    assert observer.causes() == ["crowded"]
