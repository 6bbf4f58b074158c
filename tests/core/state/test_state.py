from __future__ import annotations

import gc
import weakref
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.builders import other, permission, post, pre, shell, sub
from tests.core.world import World
from watchgate.core.gate.effects import Emit
from watchgate.core.model.records import CoreData, Draft, Fact, FactsData, Record, TamperedData
from watchgate.core.model.views import Totals
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State


def picture(state: State) -> dict[str, Any]:
    kept = {name: getattr(state, name) for name in ("core", "seq", "at", "gate", "totals", "last")}
    return {
        **kept,
        "sessions": state.sessions,
        "pending": state.pending,
        "rows": list(state.rows),
    }


def replayed(records: list[Record], state: State | None = None) -> State:
    state = state or State()
    for record in records:
        state.apply(record)
    return state


def emit(world: World, kind: str, data: Any) -> None:
    world.do([Emit(Draft(kind=kind, at=world.now.wall_us, data=data))])


def history() -> World:
    """A session in which everything happens once."""
    world = World("strict")
    emit(world, "policy.started", CoreData(what="started", profile="strict"))
    world.send(other("session.start", mode="default"))
    world.allow(world.ask(pre(shell("medium", "a")), 1), scope="session")
    world.send(pre(shell("medium", "b")), 2)
    world.commit()
    world.send(post(shell("medium", "b")))
    world.decide(world.ask(pre(shell("high", "c"), sub=sub()), 3), "deny")
    world.send(post(shell("high", "c"), sub=sub()))
    world.decide(world.ask(pre(shell("high", "d"), session="two"), 4), "allow")
    world.commit(ok=False)
    world.send(pre(shell("deny", "e")), 5)
    emit(world, "policy.off", CoreData(what="off", until=5, name="ann"))
    world.ask(permission(shell("high", "f"), agent="codex"), 6)
    late = world.ask(pre(shell("high", "g")), 7)
    world.do(world.engine.extended(world.broker.extend(late.id, 9, world.now), "a", world.now))
    world.advance(400)
    emit(world, "policy.journal", CoreData(what="lost", detail="full"))
    emit(world, "policy.on", CoreData(what="on"))
    world.send(other("turn.end"))
    world.ask(pre(shell("high", "h")), 8)
    return world


HISTORY = history()


def test_a_replay_of_the_records_gives_the_same_state() -> None:
    assert picture(replayed(HISTORY.records)) == picture(HISTORY.state)
    assert HISTORY.state.skipped == 0


def test_records_that_were_folded_in_already_change_nothing() -> None:
    state = replayed(HISTORY.records)
    before = picture(state)
    assert picture(replayed(HISTORY.records, state)) == before


@settings(max_examples=60)
@given(st.integers(0, len(HISTORY.records)))
def test_a_snapshot_and_the_records_after_it_are_as_good_as_all_records(cut: int) -> None:
    first = replayed(HISTORY.records[:cut])
    second = restore(
        seq=first.seq,
        core=first.core,
        at=first.at,
        gate=first.gate,
        sessions=first.sessions.values(),
        pending=first.pending.values(),
        totals=first.totals,
        settled=first.settled,
        rows=list(first.rows),
    )
    assert picture(second) == picture(first)
    assert picture(replayed(HISTORY.records, second)) == picture(HISTORY.state)


@settings(max_examples=60)
@given(st.integers(0, len(HISTORY.records)), st.integers(0, len(HISTORY.records)))
def test_ap_15_nothing_old_is_actionable_after_a_start(cut: int, more: int) -> None:
    state = replayed(HISTORY.records[:cut])
    waited = set(state.pending)
    state.apply(msgspec.structs.replace(HISTORY.records[0], seq=state.seq + 1))
    assert state.pending == {}
    assert all(view.pending == 0 for view in state.sessions.values())
    assert all(row.stage == "no core" for row in state.rows if row.request in waited)
    late = [r for r in HISTORY.records[:more] if r.kind != "approval.requested"]
    replayed([msgspec.structs.replace(r, seq=state.seq + r.seq) for r in late], state)
    assert state.pending == {}


@pytest.mark.parametrize("purged", [lambda _: {}, dict.fromkeys], ids=["empty", "only keys"])
def test_a_record_without_its_payload_is_passed_over(purged: Any) -> None:
    records = [msgspec.structs.replace(r, data=purged(r.data)) for r in HISTORY.records]
    state = replayed(records)
    assert state.seq == HISTORY.records[-1].seq
    assert state.skipped > 0
    assert state.pending == {}


def test_a_record_of_a_later_version_is_passed_over() -> None:
    record = HISTORY.records[-1]
    later = [
        msgspec.structs.replace(record, seq=1, kind="approval.dreamt"),
        msgspec.structs.replace(record, seq=2, kind="tool.pre", agent=None, session=None),
        msgspec.structs.replace(record, seq=3, kind="approval.decided", data={"word": "guessed"}),
    ]
    assert replayed(later).skipped == 2


def test_what_the_history_adds_up_to() -> None:
    state = HISTORY.state
    assert state.totals == Totals(
        allowed_by_operator=1,
        allowed_by_grant=1,
        denied_by_operator=1,
        denied_by_rule=1,
        denied_by_timeout=1,
        denied_other=1,
        alarms=1,
    )
    stages = {row.call: (row.glyph, row.stage) for row in state.rows}
    assert stages == {
        "a": ("+", "no result"),
        "b": ("=", "done"),
        "c": ("x", "DENIED BUT RAN"),
        "d": ("x", "denied"),
        "e": ("x", "denied"),
        "f": ("?", "pending"),
        "g": ("T", "timed out"),
        "h": ("?", "pending"),
    }
    assert state.gate.journal == "full"
    assert state.gate.off_until is None
    waiting = {key: view.pending for key, view in state.sessions.items() if view.pending}
    assert waiting == {("claude", "one"): 1, ("codex", "one"): 1}


def test_what_a_pending_call_would_touch_is_kept_with_its_request() -> None:
    world = World("strict")
    request = world.ask(pre(shell("high", "a")), 1)
    facts = FactsData(facts=(Fact("412 files", grave=True),), cut=True)
    world.do([Emit(Draft(kind="approval.facts", at=1, data=facts, request=request.id))])
    view = world.state.pending[request.id]
    assert (view.facts, view.cut) == (facts.facts, True)
    world.decide(request, "deny")
    world.do([Emit(Draft(kind="approval.facts", at=2, data=facts, request=request.id))])
    assert (world.state.pending, world.state.skipped) == ({}, 0)


def test_an_operators_answers_are_counted_for_their_session() -> None:
    world = World("strict")
    world.allow(world.ask(pre(shell("high", "a")), 1))
    world.decide(world.ask(pre(shell("high", "b")), 2), "deny")
    world.ask(pre(shell("high", "c")), 3)
    world.advance(4000)
    (view,) = world.state.sessions.values()
    assert (view.answered, view.allowed, len(view.waits)) == (2, 1, 2)


def test_a_broken_policy_stays_broken_until_it_is_loaded_again() -> None:
    world = World("strict")
    emit(world, "policy.broken", CoreData(what="broken", detail="policy.toml:3: unknown key"))
    emit(world, "policy.changed", CoreData(what="changed", detail="policy.toml changed"))
    gate = replayed(world.records).gate
    assert (gate.policy, gate.policy_broken) == ("policy.toml changed", True)
    emit(world, "policy.reloaded", CoreData(what="loaded again"))
    gate = replayed(world.records).gate
    assert (gate.policy, gate.policy_broken) == ("", False)


def test_that_rules_changed_before_the_start_hides_no_fault_of_them() -> None:
    world = World("strict")
    emit(world, "policy.broken", CoreData(what="broken", detail="policy.toml:3: unknown key"))
    emit(world, "policy.changed", TamperedData(part="policy", path="/p.toml", what="changed"))
    gate = replayed(world.records).gate
    assert (gate.policy, gate.policy_broken) == ("policy.toml:3: unknown key", True)


def test_a_bad_file_of_a_project_is_told_until_all_files_are_good() -> None:
    world = World("strict")
    fault = "/srv/app/.watchgate/policy.toml:3: unknown key"
    emit(world, "policy.fault", CoreData(what="bad", detail=fault, tier="project"))
    gate = replayed(world.records).gate
    assert (gate.project_fault, gate.policy, gate.policy_broken) == (fault, "", False)
    emit(world, "policy.reloaded", CoreData(what="loaded again", detail=fault))
    gate = replayed(world.records).gate
    assert (gate.project_fault, gate.policy) == (fault, "")
    emit(world, "policy.reloaded", CoreData(what="loaded again"))
    assert replayed(world.records).gate.project_fault == ""


def test_a_fault_that_is_not_of_a_project_s_policy_is_not_told_as_one() -> None:
    world = World("strict")
    emit(world, "policy.fault", CoreData(what="the grants cannot be kept", detail="no space"))
    assert replayed(world.records).gate.project_fault == ""


def test_a_picture_is_gone_with_its_last_reference() -> None:
    """A console takes a new one after each loss of its core; nothing looks for the old ones."""
    gc.disable()
    try:
        state = replayed(history().records)
        gone = weakref.ref(state)
        del state
        assert gone() is None
    finally:
        gc.enable()
