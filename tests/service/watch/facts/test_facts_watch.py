"""A new request is looked at beside its decision: for a moment, and without changing it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import anyio
import pytest

from tests.service.desk import Desk
from watchgate.core.model.records import Fact, Record
from watchgate.service.watch.facts import facts_watch
from watchgate.service.watch.facts.fact_finder import FactLook
from watchgate.service.watch.facts.facts_watch import FactsWatch


class Told:
    """Waits for the facts of a request."""

    def __init__(self) -> None:
        self.data: dict[str, object] = {}
        self._came = anyio.Event()

    def offer(self, record: Record) -> None:
        if record.kind == "approval.facts":
            self.data = record.data
            self._came.set()

    async def wait(self) -> dict[str, object]:
        with anyio.fail_after(20):
            await self._came.wait()
        return self.data


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    """A core that asks about everything, with somebody who looks at what is asked."""
    desk = Desk("strict")
    looker = FactsWatch(desk.hub, desk.clock, home="/home/u")
    desk.hub.recorder.watchers.add(looker)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(looker.run)
        await anyio.lowlevel.checkpoint()
        yield desk
        tasks.cancel_scope.cancel()


def told(desk: Desk) -> Told:
    watcher = Told()
    desk.hub.recorder.watchers.add(watcher)
    return watcher


async def endless(_look: FactLook, _late: Callable[[], bool]) -> list[Fact]:
    await anyio.sleep_forever()
    return []


async def test_what_is_found_comes_after_the_request_and_changes_nothing_of_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts_watch, "LIMIT_S", 20)
    facts = told(desk)
    desk.send("rm -rf nowhere")
    (request,) = desk.hub.engine.broker.open.values()
    before = request.data
    assert "nothing is there: nowhere" in str((await facts.wait())["facts"])
    assert desk.kinds().index("approval.requested") < desk.kinds().index("approval.facts")
    assert request.data == before
    assert request.open


async def test_a_look_that_takes_too_long_is_cut_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts_watch, "LIMIT_S", 0.01)
    monkeypatch.setattr(facts_watch, "facts", endless)
    facts = told(desk)
    desk.send("rm -rf lib")
    assert (await facts.wait())["cut"] is True


async def test_nothing_is_told_of_a_request_that_is_decided_meanwhile(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked = anyio.Event()

    async def late(_look: FactLook, _late: Callable[[], bool]) -> list[Fact]:
        desk.decide(conn, "deny")
        looked.set()
        return [Fact("too late")]

    monkeypatch.setattr(facts_watch, "facts", late)
    conn = desk.send("rm -rf lib")
    with anyio.fail_after(20):
        await looked.wait()
    await anyio.lowlevel.checkpoint()
    assert "approval.facts" not in desk.kinds()


async def test_a_call_that_touches_nothing_is_not_looked_at(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts_watch, "facts", endless)
    desk.send("frobnicate build")
    await anyio.wait_all_tasks_blocked()
    assert desk.kinds()[-1] == "approval.requested"


def test_nobody_waits_longer_than_300_ms_for_facts() -> None:
    assert facts_watch.LIMIT_S <= 0.3
