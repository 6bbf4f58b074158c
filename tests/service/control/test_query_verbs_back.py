"""The verb `search`: records as ever, and the calls of the past."""

from __future__ import annotations

import threading
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.core.state.test_state import HISTORY
from tests.service.control.counter import Counter
from tests.service.history.test_call_pages import written
from tests.service.wire_frames import WAIT_S, until
from watchgate.core.model.agent_state import AgentState
from watchgate.link.protocol import Verb
from watchgate.service.history import call_pages, record_pages


@pytest.fixture
def told(counter: Counter, runtime_dir: Path, monkeypatch: pytest.MonkeyPatch) -> Counter:
    """A core with a journal behind it, which answers at once however busy the machine is."""
    for part in (record_pages, call_pages):
        monkeypatch.setattr(part, "LONGEST_S", float("inf"))
    counter.desk.paper.at_once = True
    written(runtime_dir / "journal.db", tuple(HISTORY.records))
    return counter


async def test_a_search_answers_with_records_unless_calls_are_asked_for(told: Counter) -> None:
    found = await told.ok("search", filter="kind:tool.pre", limit=3)
    assert found["next"] == found["records"][-1].seq - 1
    assert [record.kind for record in found["records"]] == ["tool.pre"] * 3


async def test_the_calls_of_the_past_come_in_pages(told: Counter) -> None:
    first = await told.ok("search", what="calls", limit=2)
    then = await told.ok("search", what="calls", limit=2, before=first["next"])
    assert first["records"] == len(HISTORY.records)
    assert len({row.first for row in (*first["calls"], *then["calls"])}) == 4


async def test_what_changed_since_a_record(told: Counter) -> None:
    found = await told.ok("search", what="calls", from_seq=len(HISTORY.records))
    assert found["reset"] is False
    assert [row.call for row in found["calls"]] == ["h"]


async def test_the_records_of_one_call(told: Counter) -> None:
    (row,) = (await told.ok("search", what="calls", filter="call:c", limit=5))["calls"]
    bounds = {"from_seq": row.first, "to_seq": row.last}
    found = await told.ok("search", what="records", filter="call:c", limit=50, **bounds)
    seqs = [record.seq for record in found["records"]]
    assert (min(seqs), max(seqs)) == (row.first, row.last)


async def test_a_filter_that_cannot_be_read_is_a_refusal(told: Counter) -> None:
    refusal = await told.refused("search", what="calls", filter="colour:red")
    assert refusal.refused == "bad_request"
    assert "colour" in refusal.message


async def test_a_filter_without_end_is_a_refusal(told: Counter) -> None:
    refusal = await told.refused("search", filter="-x " * 100_000)
    assert refusal.refused == "bad_request"


@pytest.mark.parametrize("verb", ["search", "history"])
async def test_whatever_numbers_are_asked_for_there_is_an_answer(told: Counter, verb: Verb) -> None:
    for number in (2**70, -(2**70)):
        for what, name in (("records", "limit"), ("calls", "before"),
                           ("records", "from_seq"), ("records", "to_seq")):  # fmt: skip
            numbers: dict[str, Any] = {name: number}
            assert await told.ok(verb, what=what, **numbers)


async def test_readers_take_turns_and_a_console_waits_for_none_of_the_others(
    told: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, most, go = [0], [0], threading.Event()

    def search(*_asked: object) -> dict[str, Any]:
        running[0] += 1
        most[0] = max(most[0], running[0])
        go.wait(WAIT_S)
        running[0] -= 1
        return {"records": []}

    monkeypatch.setattr(record_pages, "search", search)
    console = told.caller(*told.operator.chain, number=9)
    await told.ok("attach", console)
    async with anyio.create_task_group() as tasks:
        for _ in range(5):
            tasks.start_soon(told.ok, "search")
        await until(lambda: running[0], "the first reader")
        assert (await told.ok("history", console, from_seq=1, to_seq=1))["records"]
        go.set()
    assert most == [1]


async def test_a_console_reads_while_somebody_looks_at_the_agents(told: Counter) -> None:
    begun, go, ended = threading.Event(), threading.Event(), threading.Event()

    def agents() -> tuple[AgentState, ...]:
        begun.set()
        go.wait(WAIT_S)
        ended.set()
        return ()

    told.agents = agents
    console = told.caller(*told.operator.chain, number=9)
    await told.ok("attach", console)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(told.ok, "list", what="agents"))
        await until(begun.is_set, "the look at the agents")
        assert (await told.ok("history", console, from_seq=1, to_seq=1))["records"]
        assert not ended.is_set()
        go.set()


async def test_without_a_journal_it_says_so(counter: Counter) -> None:
    refusal = await counter.refused("search", what="calls")
    assert refusal.refused == "failed"
    assert "does not exist yet" in refusal.message
