"""The desk runs what the engine asks, brings back one report of each, and ends what is halted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec

from tests.core.builders import START, pre
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.handlers import Handler, Role
from watchgate.core.dispatch.presets import CONSOLE
from watchgate.core.model.events import Event, Lane
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Report, Verdict
from watchgate.service.runners.handler_runner import (
    CallableRunner,
    HandlerFunction,
    HandlerRunner,
    ObserverQueue,
)
from watchgate.service.system.system_clock import FakeClock

Said = list[tuple[int, str, Verdict]]
ONE = msgspec.structs.replace(CONSOLE, observers_at_once=1, observers_waiting=1)


def invoke(id: str, role: Role = "gate", limit_s: float = 5.0) -> Invoke:
    handler = Handler(id=id, on=frozenset({"tool.pre"}), role=role)
    return Invoke(handler, pre(), START.mono_s + limit_s)


@asynccontextmanager
async def serving(**calls: HandlerFunction) -> AsyncIterator[tuple[HandlerRunner, Said]]:
    """A desk with these functions as handlers, and what it reports."""
    said: Said = []
    runners: dict[str, Any] = {name: CallableRunner(call) for name, call in calls.items()}
    desk = HandlerRunner(runners, ObserverQueue(ONE), FakeClock(START))

    def heard(dispatch_id: int, handler: str, report: Report) -> None:
        said.append((dispatch_id, handler, report.verdict))

    async with anyio.create_task_group() as tasks:
        await tasks.start(desk.serve, heard)
        yield desk, said
        tasks.cancel_scope.cancel()


async def until(ready: Callable[[], object]) -> None:
    with anyio.fail_after(20):
        while not ready():
            await anyio.lowlevel.checkpoint()


async def hangs(_event: Event) -> Verdict:
    await anyio.sleep_forever()
    raise AssertionError


async def test_each_handler_is_heard_for_its_own_dispatch() -> None:
    async with serving(yes=lambda _: Allow(), no=lambda _: Block("no")) as (desk, said):
        desk.ask(1, invoke("yes"))
        desk.ask(2, invoke("no"))
        await until(lambda: len(said) == 2)
    assert sorted(said) == [(1, "yes", Allow()), (2, "no", Block("no"))]


async def test_a_function_may_be_a_coroutine_or_bring_a_whole_report() -> None:
    async def slow(_event: Event) -> Report:
        await anyio.lowlevel.checkpoint()
        return Report(verdict=Defer(), text="a hint")

    report = await CallableRunner(slow).run(pre(), 5.0)
    assert (report.verdict, report.text) == (Defer(), "a hint")


async def test_sd_b7_a_function_that_raises_has_failed_and_names_the_place_not_the_words() -> None:
    def raises(_event: Event) -> Verdict:
        raise RuntimeError("a secret")

    report = await CallableRunner(raises).run(pre(), 5.0)
    assert isinstance(report.verdict, Failed)
    assert report.verdict.cause == "crash"
    assert "RuntimeError" in report.verdict.detail
    assert "secret" not in report.verdict.detail


async def test_a_function_that_never_ends_is_cancelled_at_its_limit() -> None:
    report = await CallableRunner(hangs).run(pre(), 0.0)
    assert report.verdict == Failed("timeout")


async def test_what_is_halted_is_ended_and_the_others_are_heard() -> None:
    async with serving(hangs=hangs, yes=lambda _: Allow()) as (desk, said):
        desk.ask(1, invoke("hangs"))
        desk.ask(2, invoke("yes"))
        await until(lambda: said)
        desk.halt(1, frozenset({"hangs"}))
        await until(lambda: len(said) == 2)
    assert said[0] == (2, "yes", Allow())
    assert isinstance(said[1][2], Failed)


async def test_a_handler_that_nothing_runs_has_failed() -> None:
    async with serving() as (desk, said):
        desk.ask(1, invoke("none"))
        await until(lambda: said)
    assert said == [(1, "none", Failed("spawn", "nothing runs this handler"))]


async def test_before_it_serves_a_gate_fails_at_once() -> None:
    desk = HandlerRunner({}, ObserverQueue(), FakeClock(START))
    desk.ask(1, invoke("early"))


async def test_a_handler_whose_time_is_over_is_not_begun() -> None:
    begun: list[Event] = []

    def notes(event: Event) -> Verdict:
        begun.append(event)
        return Allow()

    async with serving(late=notes) as (desk, said):
        desk.ask(1, invoke("late", limit_s=0.0))
        await until(lambda: said)
    assert begun == []
    assert isinstance(said[0][2], Failed)


async def test_cw_28_observers_queue_and_the_one_too_many_is_dropped_aloud() -> None:
    go = anyio.Event()

    async def waits(_event: Event) -> Verdict:
        await go.wait()
        return Defer()

    async with serving(slow=waits, gate=lambda _: Allow()) as (desk, said):
        desk.ask(1, invoke("slow", "observer"))
        await anyio.wait_all_tasks_blocked()
        desk.ask(2, invoke("slow", "observer"))
        desk.ask(3, invoke("slow", "observer"))
        desk.ask(4, invoke("gate"))
        await until(lambda: len(said) == 2)
        dropped, gated = said
        assert (dropped[0], gated) == (3, (4, "gate", Allow())), "gates do not queue behind them"
        assert isinstance(dropped[2], Failed)
        assert dropped[2].cause == "crowded"
        go.set()
        await until(lambda: len(said) == 4)


async def test_an_observer_that_is_halted_while_it_queues_never_begins() -> None:
    go, begun = anyio.Event(), []

    async def waits(event: Event) -> Verdict:
        begun.append(event)
        await go.wait()
        return Defer()

    async with serving(slow=waits) as (desk, said):
        desk.ask(1, invoke("slow", "observer"))
        await anyio.wait_all_tasks_blocked()
        desk.ask(2, invoke("slow", "observer"))
        desk.halt(2, frozenset({"slow"}))
        go.set()
        await until(lambda: len(said) == 2)
    assert len(begun) == 1
    assert isinstance(said[1][2], Failed)


async def test_a_gate_over_what_is_only_observed_queues_with_the_observers() -> None:
    go = anyio.Event()

    async def waits(_event: Event) -> Verdict:
        await go.wait()
        return Defer()

    handler = Handler(id="slow", on=frozenset({"tool.pre"}))
    watched = Invoke(handler, pre(lane=Lane.OBSERVE), START.mono_s + 5)
    async with serving(slow=waits, gate=lambda _: Allow()) as (desk, said):
        for number in range(3):
            desk.ask(number, watched)
            await anyio.wait_all_tasks_blocked()
        assert [type(verdict) for _, _, verdict in said] == [Failed], "the one too many"
        desk.ask(9, invoke("gate"))
        await until(lambda: len(said) == 2)
        assert said[1] == (9, "gate", Allow())
        go.set()


async def test_what_a_halted_run_still_says_does_not_count_for_the_run_after_it() -> None:
    runs: list[anyio.Event] = []

    async def slow(_event: Event) -> Verdict:
        runs.append(anyio.Event())
        mine = len(runs)
        await runs[-1].wait()
        return Block(f"run {mine}")

    async with serving(slow=slow) as (desk, said):
        desk.ask(1, invoke("slow"))
        await until(lambda: len(runs) == 1)
        desk.halt(1, frozenset({"slow"}))
        desk.ask(1, invoke("slow"))
        await until(lambda: len(runs) == 2)
        runs[1].set()
        await until(lambda: said)
    assert said == [(1, "slow", Block("run 2"))]
