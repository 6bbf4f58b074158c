"""What single records do to rows, sessions and totals."""

from __future__ import annotations

import msgspec

from tests.core.builders import other, pre, shell
from tests.core.state.test_state import emit, replayed
from tests.core.world import World
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Lane
from watchgate.core.model.records import CoreData, UsageData
from watchgate.core.model.views import Totals
from watchgate.core.state.call_rows import ROW_CHARS

DAY_US = 86_400_000_000


def test_a_call_that_is_asked_about_again_is_pending_again() -> None:
    world = World()
    world.ask(pre(), 1)
    world.advance(300)
    again = world.ask(pre(), 2)
    assert (world.state.rows[0].stage, world.state.rows[0].ended_at) == ("pending", None)
    world.allow(again)
    assert (world.state.rows[0].glyph, world.state.rows[0].stage) == ("+", "running")


def test_a_session_stops_being_autonomous_when_its_mode_says_so() -> None:
    world = World()
    for mode, autonomous in (("auto", True), (None, False), ("default", False)):
        world.send(other("prompt.submit", mode=mode, autonomous=autonomous))
        view = world.state.sessions["claude", "one"]
        assert view.autonomous is (mode != "default")
    assert view.mode == "default"


def test_totals_belong_to_a_day_and_a_late_record_does_not_bring_yesterday_back() -> None:
    world = World()
    world.decide(world.ask(pre(), 1), "deny")
    for at, denied in ((0, 1), (DAY_US, 0), (0, 0), (DAY_US, 0)):
        last = world.records[-1]
        record = msgspec.structs.replace(last, seq=world.state.seq + 1, at=last.at + at, kind="x")
        world.state.apply(record)
        assert world.state.totals.denied_by_operator == denied
    assert world.state.totals == Totals()


def test_calls_that_two_cores_gave_the_same_name_are_two_rows() -> None:
    first, second = World(), World()
    for world in (first, second):
        emit(world, "policy.started", CoreData(what="started", profile="guard"))
        world.send(pre(shell("low")), 1)
    more = [msgspec.structs.replace(r, seq=r.seq + first.state.seq) for r in second.records]
    assert len(replayed(first.records + more).rows) == 2


def test_the_calls_of_the_last_minute_are_counted_by_second() -> None:
    world = World()
    start_s = world.now.wall_us // 1_000_000
    for number, wait_s in enumerate((0, 0, 1, 50, 9.5)):
        world.advance(wait_s)
        world.send(pre(shell("low", f"c{number}"), lane=Lane.OBSERVE))
    view = world.state.sessions["claude", "one"]
    assert view.calls == 5
    assert view.recent == ((start_s + 1, 1), (start_s + 51, 1), (start_s + 60, 1))


def test_a_clock_that_is_set_back_does_not_count_into_the_future() -> None:
    world = World()
    now_s = world.now.wall_us // 1_000_000
    for number, back_s in enumerate((0, 2, 3_600)):
        world.now = Instant((now_s - back_s) * 1_000_000, world.now.mono_s)
        world.send(pre(shell("low", f"c{number}"), lane=Lane.OBSERVE))
        counted = world.state.sessions["claude", "one"].recent
        assert counted == (((now_s, 1),), ((now_s, 2),), ((now_s - 3_600, 1),))[number]


def test_sessions_of_one_folder_have_different_labels() -> None:
    world = World()
    for session in ("one", "two", "three"):
        world.send(other("session.start", session=session))
    labels = [view.label for view in world.state.sessions.values()]
    assert labels == ["app", "app~two", "app~thre"]


def test_a_session_knows_its_cost_and_whether_its_calls_pass_the_gate() -> None:
    world = World()
    world.send(pre(shell("low", "a"), lane=Lane.OBSERVE))
    record = world.records[-1]
    assert world.state.sessions["claude", "one"].gated is False
    world.send(pre(shell("low", "b")), 1)
    usage = msgspec.to_builtins(UsageData(native="u", total_cost_usd=1.5))
    seq = world.state.seq + 1
    world.state.apply(msgspec.structs.replace(record, seq=seq, kind="usage", data=usage))
    view = world.state.sessions["claude", "one"]
    assert (view.gated, view.cost_usd, view.calls) == (True, 1.5, 2)


def test_a_row_keeps_no_more_of_a_command_than_anybody_may_approve() -> None:
    world = World()
    world.send(pre(shell("medium " + "x" * ROW_CHARS, "c1")), 1)
    assert [len(row.summary) for row in world.state.rows.tail(1)] == [ROW_CHARS]
