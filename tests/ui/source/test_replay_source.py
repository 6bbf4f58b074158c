"""A recording in the place of a core: the same bridge shows the same state, and nothing acts."""

from __future__ import annotations

from typing import Any, get_args

import anyio
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.state.test_state import picture, replayed
from tests.ui.console_bench import idle
from tests.ui.replay_bench import recorded
from watchgate.core.model.records import Record
from watchgate.core.state.state import State
from watchgate.link.protocol import Refusal, Result, Snapshot, Verb
from watchgate.ui.source import film, replay_source
from watchgate.ui.source.core_bridge import Bridge
from watchgate.ui.source.recorded_calls import Page
from watchgate.ui.source.replay_source import Recording


def shown(bridge: Bridge) -> dict[str, Any]:
    """The picture; the moment it was taken at is that of the clock."""
    return {name: held for name, held in picture(bridge.state).items() if name != "at"}


def folded(played: int) -> dict[str, Any]:
    """The picture after so many records, folded one by one."""
    state = replayed(list(recorded()[:played]))
    return {name: held for name, held in picture(state).items() if name != "at"}


@settings(max_examples=25)
@given(st.lists(st.integers(1, len(recorded())), min_size=1, max_size=6))
def test_wherever_one_goes_the_bridge_shows_what_was_so_then(places: list[int]) -> None:
    async def go() -> None:
        recording = Recording(recorded())
        bridge = Bridge(recording, recording, lambda: None)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bridge.run)
            for place in places:
                recording.player.step(place - recording.player.played)
                recording.moved()
                await idle()
                assert shown(bridge) == folded(place)
                assert bridge.now_us() == recording.player.now_us
            tasks.cancel_scope.cancel()

    anyio.run(go)


async def test_the_way_back_begins_at_a_picture_that_was_kept(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(film, "SNAPSHOT_EVERY", 20)
    kept = film.Pictures(recorded())
    await kept.after(100)
    applied: list[int] = []
    apply = State.apply

    def counted(state: State, record: Record) -> None:
        applied.append(record.seq)
        apply(state, record)

    monkeypatch.setattr(State, "apply", counted)
    state = await kept.after(95)
    assert len(applied) == 15
    assert picture(state) == picture(replayed(list(recorded()[:95])))


async def test_a_jump_on_is_a_picture_and_not_every_record_on_the_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replay_source, "JUMP", 20)
    recording = Recording(recorded())
    await recording.attach()
    recording.player.step(20)
    pushes = await recording.batch()
    assert isinstance(pushes, list)
    assert len(pushes) == 20
    recording.player.step(21)
    taken = await recording.batch()
    assert isinstance(taken, Snapshot)
    assert taken.seq == recorded()[recording.player.played - 1].seq


@pytest.mark.parametrize("verb", sorted(set(get_args(Verb)) - {"search"}))
async def test_no_verb_that_does_something_is_taken(verb: Verb) -> None:
    recording = Recording(recorded())
    recording.player.to_end()
    answer = await recording.call(verb, request="b7c2", decision="allow", seconds=60)
    assert isinstance(answer, Refusal)
    assert answer.message == "a replay: nothing that is asked here reaches a core"


async def found(recording: Recording, **fields: Any) -> dict[str, Any]:
    answer = await recording.call("search", **fields)
    assert isinstance(answer, Result)
    return answer.ok


async def test_its_calls_are_found_as_far_as_they_were_played() -> None:
    recording = Recording(recorded())
    recording.player.step(90)
    played = recorded()[: recording.player.played]
    page = msgspec.convert(
        await found(recording, what="calls", filter="tool:Bash", limit=3),
        Page,
        from_attributes=True,
    )
    assert len(page.calls) == 3
    assert {row.tool for row in page.calls} == {"Bash"}
    assert page.records == len(played)
    assert page.newest == played[-1].seq
    older = msgspec.convert(
        await found(recording, what="calls", filter="tool:Bash", before=page.next),
        Page,
        from_attributes=True,
    )
    calls = {r.call for r in played if r.kind == "tool.pre" and r.data["tool"]["name"] == "Bash"}
    assert {row.call for row in (*page.calls, *older.calls)} == calls
    assert older.next is None


async def test_a_call_that_waited_then_is_told_as_pending() -> None:
    recording = Recording(recorded())
    asked = next(place for place, r in enumerate(recorded(), 1) if r.kind == "approval.requested")
    recording.player.step(asked - recording.player.played)
    page = await found(recording, what="calls")
    assert page["calls"][0].outcome == "pending"


async def test_what_changed_since_a_record_is_told() -> None:
    recording = Recording(recorded())
    recording.player.to_end()
    since = recorded()[-3].seq
    changed = await found(recording, what="calls", from_seq=since, filter="tool:Nothing")
    assert changed["calls"] == []
    touched = {r.call for r in recorded()[-3:] if r.call}
    assert len(changed["gone"]) == len(touched) > 0


async def test_its_records_are_found_newest_first_and_page_by_page() -> None:
    recording = Recording(recorded())
    recording.player.to_end()
    got: list[int] = []
    last: int | None = None
    while True:
        page = await found(recording, what="records", filter="kind:tool.pre", to_seq=last, limit=5)
        got += [record.seq for record in page["records"]]
        last = page["next"]
        if last is None:
            break
    assert got == [r.seq for r in reversed(recorded()) if r.kind == "tool.pre"]


async def test_a_filter_that_cannot_be_read_is_refused() -> None:
    answer = await Recording(recorded()).call("search", filter="risk>=nonsense")
    assert isinstance(answer, Refusal)
    assert answer.refused == "bad_request"
