"""A request that nobody answers is told elsewhere, beside its decision, and the record says so."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import msgspec
import pytest

from tests.service.desk import Desk
from watchgate.core.config.config_sections import EscalationConfig
from watchgate.core.gate.broker import Escalations
from watchgate.service.watch.escalation import escalation_watch
from watchgate.service.watch.escalation.escalation_watch import EscalationMessage, EscalationWatch


class Pager:
    """Keeps what it is told; fails as often as `faults` says, or hangs."""

    def __init__(self, *faults: str, hangs: bool = False) -> None:
        self.got: list[EscalationMessage] = []
        self.closed = False
        self.began = anyio.Event()
        self._faults = list(faults)
        self._hangs = hangs

    async def tell(self, body: bytes) -> str:
        self.began.set()
        if self._hangs:
            await anyio.sleep_forever()
        self.got.append(msgspec.json.decode(body, type=EscalationMessage))
        return self._faults.pop(0) if self._faults else ""

    def close(self) -> None:
        self.closed = True


def entry(name: str = "ana", after_s: int = 60) -> EscalationConfig:
    return EscalationConfig(name=name, after_s=after_s, url="http://127.0.0.1:1/")


@asynccontextmanager
async def watched(
    desk: Desk, *entries: EscalationConfig, **pagers: Pager
) -> AsyncIterator[EscalationWatch]:
    """A core with these to tell; `look` is the test's."""
    watch = EscalationWatch(desk.hub, desk.clock, Escalations(entries), pagers, host="lab1")
    desk.hub.recorder.watchers.add(watch)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(watch.run)
        await anyio.wait_all_tasks_blocked()
        yield watch
        tasks.cancel_scope.cancel()


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(20):
        while not true():
            await anyio.lowlevel.checkpoint()


def escalated(desk: Desk) -> list[dict[str, object]]:
    return [r.data for r in desk.console.records if r.kind == "approval.escalated"]


async def test_who_is_told_is_recorded_about_the_request_and_stands_on_its_page() -> None:
    desk, pager = Desk(), Pager()
    async with watched(desk, entry(), ana=pager) as watch:
        desk.send("high x")
        desk.clock.advance(60)
        watch.look()
        await until(lambda: bool(escalated(desk)))
    (record,) = (r for r in desk.console.records if r.kind == "approval.escalated")
    (view,) = desk.hub.recorder.state.pending.values()
    assert record.data == {"to": "ana", "waited_s": 60}
    assert (record.request, record.agent, record.call) == (view.id, "claude", "c1")
    assert [told.to for told in view.escalated] == ["ana"]
    assert [told.id for told in pager.got] == [view.id[:8]]
    assert pager.closed


async def test_a_new_request_is_looked_at_without_waiting_for_the_next_round() -> None:
    desk, pager = Desk(), Pager()
    async with watched(desk, entry(after_s=0), ana=pager):
        desk.send("high x")
        await until(lambda: bool(escalated(desk)))
    assert len(pager.got) == 1


async def test_one_who_cannot_be_told_is_tried_once_more_and_the_record_says_why(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(escalation_watch, "PAUSE_S", 0)
    desk, pager = Desk(), Pager("no route", "no route to it", "never asked for")
    async with watched(desk, entry(after_s=0), ana=pager):
        desk.send("high x")
        await until(lambda: bool(escalated(desk)))
    assert len(pager.got) == 2
    assert escalated(desk) == [{"to": "ana", "waited_s": 0, "detail": "no route to it"}]


async def test_what_is_answered_between_two_tries_is_not_tried_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(escalation_watch, "PAUSE_S", 10_000)
    desk, pager = Desk(), Pager("no route")
    async with watched(desk, entry(after_s=0), ana=pager):
        conn = desk.send("high x")
        await until(lambda: bool(pager.got))
        desk.decide(conn, "deny")
        await until(lambda: bool(escalated(desk)))
    assert len(pager.got) == 1
    assert escalated(desk)[0]["detail"] == "no route"


async def test_an_answer_ends_what_is_on_its_way_and_the_record_claims_nothing() -> None:
    desk, pager = Desk(), Pager(hangs=True)
    async with watched(desk, entry(after_s=0), ana=pager) as watch:
        conn = desk.send("high x")
        await pager.began.wait()
        assert watch.busy
        desk.clock.advance(7)
        desk.decide(conn, "deny")
        await until(lambda: bool(escalated(desk)))
        assert not watch.busy
    assert escalated(desk) == [{"to": "ana", "waited_s": 7, "detail": escalation_watch.ANSWERED}]
    assert pager.got == []


async def test_one_who_hangs_keeps_nobody_else_from_being_told() -> None:
    desk, slow, quick = Desk(), Pager(hangs=True), Pager()
    async with watched(desk, entry(after_s=0), entry("ben", after_s=0), ana=slow, ben=quick):
        desk.send("high x")
        desk.send("high y", call="c2")
        await until(lambda: len(quick.got) == 2)
    assert [data["to"] for data in escalated(desk)] == ["ben", "ben"]


async def test_what_was_answered_while_it_waited_for_its_turn_is_told_to_nobody() -> None:
    desk, pager = Desk(), Pager(hangs=True)
    async with watched(desk, entry(after_s=0), ana=pager) as watch:
        first, second = desk.send("high x"), desk.send("high y", call="c2")
        watch.look()
        await pager.began.wait()
        desk.decide(second, "deny")
        desk.decide(first, "deny")
        await until(lambda: bool(escalated(desk)))
        await anyio.wait_all_tasks_blocked()
    assert len(escalated(desk)) == 1


async def test_an_attached_console_is_there_so_nobody_else_is_told() -> None:
    desk, pager = Desk(), Pager()
    async with watched(desk, entry(after_s=0), ana=pager) as watch:
        desk.hub.execute(desk.hub.engine.console_count(1, desk.clock.now()))
        desk.send("high x")
        watch.look()
        await anyio.wait_all_tasks_blocked()
        assert pager.got == []
        desk.hub.execute(desk.hub.engine.console_count(0, desk.clock.now()))
        watch.look()
        await until(lambda: bool(pager.got))
