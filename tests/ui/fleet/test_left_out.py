"""No call is missing from the live table: what a busy core left out is fetched when it is quiet."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.fake_source import FakeClock
from tests.ui.left_out import Busy
from tests.ui.picture import NOW_US
from tests.ui.source.test_core_bridge import until
from watchgate.core.model.call_row import CallRow
from watchgate.link.omitted_values import MAX_FETCHED, QUIET_S, Renewed, renewed_rows
from watchgate.ui.fleet.fleet_source import FleetSource
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.source.record_source import RecordSource

STEPS = st.lists(
    st.tuples(st.sampled_from(["begin", "end", "text"]), st.sampled_from("abcdefghij")),
    max_size=80,
)


@asynccontextmanager
async def watching(core: RecordSource) -> AsyncIterator[Bridge]:
    """A console's bridge on this core, or on several."""
    bridge = Bridge(core, FakeClock(NOW_US), lambda: None)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bridge.run)
        await until(lambda: bridge.link.state == "attached")
        yield bridge
        tasks.cancel_scope.cancel()


def test_it_is_fetched_after_a_second_and_up_to_fifty_thousand_records() -> None:
    assert (QUIET_S, MAX_FETCHED) == (1.0, 50_000)


async def test_a_burst_is_whole_afterwards_and_the_gravest_call_never_waits_for_that() -> None:
    core = Busy(calls=5)
    async with watching(core) as bridge:
        for number in range(60):
            core.begins(f"c{number}", risk="critical" if number == 41 else "low")
            core.ends(f"c{number}")
        await until(lambda: bridge.state.seq)
        shown = {row.call for row in bridge.state.rows}
        assert "c41" in shown
        await until(lambda: len(bridge.state.rows) == 60)
    assert list(bridge.state.rows) == list(core.whole.rows)
    assert bridge.skipped == 0


async def test_among_several_machines_each_becomes_whole() -> None:
    busy, other = Busy(), Busy()
    async with watching(FleetSource({"here": busy, "lab": other}, FakeClock(NOW_US))) as bridge:
        await until(lambda: all(host.here for host in bridge.state.hosts.values()))
        other.begins("other")
        for number in range(40):
            busy.begins(f"c{number}")
        await until(lambda: len(bridge.state.rows) == 41 and not bridge.skipped)
        assert {row.label for row in bridge.state.rows} == {"here:s", "lab:s"}


async def test_text_that_streams_hides_no_call() -> None:
    core = Busy(calls=1, others=1)
    async with watching(core) as bridge:
        for _ in range(30):
            core.tell("notice")
        core.begins("first")
        await until(lambda: [row.call for row in bridge.state.rows] == ["first"])


async def test_what_the_core_does_not_give_stays_told_as_left_out() -> None:
    core = Busy(calls=1)
    core.refuses = True
    async with watching(core) as bridge:
        for name in "abcd":
            core.begins(name)
        await until(lambda: "history" in core.asked)
        assert bridge.skipped == 3
    assert core.asked.count("history") == 1


async def test_nothing_is_fetched_where_nothing_was_left_out() -> None:
    core = Busy()
    async with watching(core) as bridge:
        core.begins("a")
        await until(lambda: len(bridge.state.rows) == 1)
    assert core.asked == ["attach"]


@given(STEPS)
def test_in_any_order_the_table_is_that_of_the_core_in_the_end(
    steps: list[tuple[str, str]],
) -> None:
    async def play() -> None:
        core = Busy()
        began: set[str] = set()
        ended: set[str] = set()
        async with watching(core) as bridge:
            for at_ms, (step, call) in enumerate(steps):
                if step == "text":
                    core.tell("notice", at_ms=at_ms)
                elif step == "begin" and call not in began:
                    began.add(call)
                    core.begins(call, at_ms=at_ms)
                elif step == "end" and call not in ended:
                    began.add(call)
                    ended.add(call)
                    core.ends(call, at_ms=at_ms)
            await until(lambda: bridge.state.seq == core.whole.seq and not bridge.skipped)
            assert list(bridge.state.rows) == list(core.whole.rows)
            assert bridge.state.sessions == core.whole.sessions
            assert bridge.state.totals == core.whole.totals

    anyio.run(play)


def _row(call: str, at: int, stage: str) -> CallRow:
    return CallRow(
        at=at, agent="a", session="s", call=call, label="", tool="", risk="", glyph="",
        stage=stage, summary="",
    )  # fmt: skip


def test_a_call_stands_as_the_core_tells_it_else_as_it_was_known_else_as_it_was_fetched() -> None:
    known = [_row("old", 1, "known"), _row("both", 2, "known"), _row("new", 5, "known")]
    rows = (_row("both", 2, "fetched"), _row("gap", 3, "fetched"), _row("new", 5, "told"))
    core = Busy()
    fields = {"seq": 1, "core": "c", "now": 9, "gate": core.whole.gate}
    renewed = Renewed(**fields, rows=rows, fetched=2)  # type: ignore[arg-type]
    assert [(row.call, row.stage) for row in renewed_rows(known, renewed)] == [
        ("old", "known"),
        ("both", "known"),
        ("gap", "fetched"),
        ("new", "told"),
    ]
