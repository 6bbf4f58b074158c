"""Handlers of the user's own, heard before the policy's word and before any operator."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.builders import ONLY_DENIES, permission, post, pre, shell
from tests.core.world import World
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.gate import record_builders
from watchgate.core.gate.settler import reply_for
from watchgate.core.model.events import Can, Lane
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    SayAllow,
    SayDeny,
    SayNothing,
    TraceRow,
)
from watchgate.core.tools.tool_input import input_hash


def gate(id: str = "guard", on: str = "tool.pre", **fields: Any) -> Handler:
    return Handler(id=id, on=frozenset({on}), **fields)


def trace(world: World) -> list[tuple[str, str]]:
    """Who is in the last trace, and what each said or why it was not asked."""
    rows: tuple[TraceRow, ...] = next(
        record.data["rows"] for record in reversed(world.records) if record.kind == "hook.trace"
    )
    return [(_get(row, "handler"), _get(row, "why") or _get(row, "verdict")) for row in rows]


def _get(row: Any, name: str) -> str:
    return str((row.get(name) if isinstance(row, dict) else getattr(row, name)) or "")


def low(world: World, conn: int = 1, **fields: Any) -> list[str]:
    return world.send(pre(shell("low", "c1"), **fields), conn)


def test_an_answer_waits_until_the_gates_have_spoken() -> None:
    world = World(handlers=[gate("a"), gate("b")])
    assert low(world) == []
    assert [ask.invoke.handler.id for ask in world.asked] == ["a"]
    world.says("a", Defer())
    assert 1 not in world.replies
    assert world.says("b", Defer()) == ["tool.pre", "hook.trace"]
    assert world.replies[1] == [SayNothing()]
    assert trace(world) == [("a", "defer"), ("b", "defer"), ("policy", "defer")]


def test_a_handlers_block_is_a_denial_in_its_words() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Block("no force push"))
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert "no force push" in reply.reason
    called = next(record for record in world.records if record.kind == "tool.pre")
    assert (called.data["gate"], called.data["word"]) == ("denied", "denied-by-rule")
    assert called.data["rule"] == "handler guard"
    assert trace(world) == [("guard", "block"), ("policy", "after-stop")]


@pytest.mark.parametrize("verdict", [Allow("fine"), Defer(), Inject("be careful")])
def test_no_handler_lets_through_what_the_policy_holds(verdict: Any) -> None:
    world = World(handlers=[gate()])
    world.send(pre(shell("high", "c1")), 1)
    world.says("guard", verdict)
    assert world.broker.of_conn(1) is not None
    assert 1 not in world.replies


def test_no_handler_lets_through_what_the_policy_denies() -> None:
    world = World(handlers=[gate()])
    world.send(pre(shell("deny", "c1")), 1)
    world.says("guard", Allow())
    assert isinstance(world.replies[1][0], SayDeny)


def test_an_allow_of_a_handler_is_never_told_to_the_agent() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Allow())
    assert world.replies[1] == [SayNothing()]


def test_a_handler_can_ask_for_an_operator() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Confirm("deploy now?"))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert (request.data.reason, request.data.rule) == ("deploy now?", "handler guard")


def test_sy_16_a_question_of_a_handler_is_a_denial_where_nobody_is_attached() -> None:
    world = World(handlers=[gate()], preset="synaps-chain", consoles=0)
    low(world)
    world.says("guard", Confirm("deploy now?"))
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert "deploy now?" in reply.reason


def test_sy_b3_what_the_policy_forbids_is_never_put_to_an_operator() -> None:
    world = World(handlers=[gate()], preset="synaps-chain")
    world.send(pre(shell("deny", "c1")), 1)
    world.says("guard", Confirm("shall it run?"))
    assert world.broker.of_conn(1) is None
    assert isinstance(world.replies[1][0], SayDeny)


def test_a_rewritten_call_waits_for_an_operator_who_sees_the_new_input() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Modify({"command": "low --dry-run"}))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert request.data.tool.input == {"command": "low --dry-run"}
    assert "rewritten by handler guard" in request.data.reason
    assert "handback" not in request.data.offered, "that would run the call as it was"
    world.decide(request, "allow")
    world.commit()
    assert world.replies[1] == [SayAllow({"command": "low --dry-run"})]


def test_an_agent_that_takes_another_input_but_no_allow_is_told_the_new_input() -> None:
    world = World(handlers=[gate()])
    world.send(pre(shell("low", "c1"), can=Can(deny=True, modify=True)), 1)
    world.says("guard", Modify({"command": "low --dry-run"}))
    world.decide(world.broker.open[world.broker.of_conn(1) or ""], "allow")
    world.commit()
    assert world.replies[1] == [SayAllow({"command": "low --dry-run"})]


def test_a_rewrite_is_told_of_the_handler_that_made_it() -> None:
    world = World(handlers=[gate("silent"), gate("asks"), gate("guard")])
    low(world)
    world.says("silent", Defer())
    world.says("asks", Defer())
    world.says("guard", Modify({"command": "low --dry-run"}))
    world.says("silent", Defer())
    world.says("asks", Confirm("deploy now?"))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert request.data.rule == "handler guard"
    assert "rewritten by handler guard; asks asks: deploy now?" in request.data.reason
    assert next(r for r in world.records if r.kind == "hook.trace").data["decided_by"] == "guard"


def test_a_denial_names_the_hook_and_a_failure_is_not_called_ours() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Block("not on a Friday."))
    (denied,) = world.replies[1]
    assert isinstance(denied, SayDeny)
    assert denied.reason.startswith("The hook guard denied this call: not on a Friday. Do not")
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Failed("exit", "exited with 7"))
    (failed,) = world.replies[1]
    assert isinstance(failed, SayDeny)
    assert "a hook could not judge it: guard failed (exit): exited" in failed.reason


def test_ap_13_a_rewrite_is_judged_by_the_policy_as_it_would_run() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Modify({"command": "deny everything"}))
    assert isinstance(world.replies[1][0], SayDeny)


def test_a_rewrite_that_the_agent_cannot_be_told_is_a_denial() -> None:
    world = World(handlers=[gate()])
    low(world, can=ONLY_DENIES)
    world.says("guard", Modify({"command": "low --dry-run"}))
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert "cannot be told another input" in reply.reason


def test_ap_13_an_approved_rewrite_is_a_denial_on_a_lane_that_cannot_be_told_it() -> None:
    allowed = SayAllow({"command": "low --dry-run"})
    assert isinstance(reply_for(permission(can=Can(allow=True, deny=True)), allowed), SayDeny)
    assert reply_for(permission(), allowed) == allowed


@pytest.mark.parametrize(("ran", "kind"), [("low -n", "confirmed"), ("low", "contradicted")])
def test_what_ran_is_held_against_the_rewritten_input(ran: str, kind: str) -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Modify({"command": "low -n"}))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    world.decide(request, "allow")
    world.commit()
    given = {"command": ran}
    tool = shell(ran, "c1")
    tool = type(tool)("Bash", "Bash", "shell", given, input_hash(given, "shell"), "c1")
    assert f"effect.{kind}" in world.send(post(tool))


@pytest.mark.parametrize("lane", [Lane.GATE_READ, Lane.RELAY])
def test_silence_denies_a_rewritten_call_on_every_lane(lane: Lane) -> None:
    world = World(handlers=[gate()])
    low(world, lane=lane, deadline_s=600.0)
    world.says("guard", Modify({"command": "low -n"}))
    request = world.broker.open[world.broker.of_conn(1) or ""]
    world.advance(request.deadline_s - world.now.mono_s)
    assert isinstance(world.replies[1][0], SayDeny)


def test_texts_for_the_model_go_with_the_handback() -> None:
    world = World(handlers=[gate("a"), gate("b")])
    low(world)
    world.says("a", Inject("first"))
    world.says("b", Inject("second"))
    assert world.replies[1] == [SayNothing("first\n\nsecond")]


def test_an_abort_ends_the_turn_where_the_agent_can() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.says("guard", Abort("enough"))
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert reply.stop


def test_observers_never_delay_an_answer_and_are_in_the_trace_when_they_end() -> None:
    world = World(handlers=[gate("log", role="observer")])
    assert low(world) == ["tool.pre"]
    assert world.replies[1] == [SayNothing()]
    assert world.says("log", Block("too late")) == ["hook.trace"]
    assert trace(world) == [("log", "block"), ("policy", "defer")]


def test_core_9_a_client_that_goes_ends_its_handlers_and_nothing_is_told() -> None:
    world = World(handlers=[gate()])
    low(world)
    assert world.hang_up(1) == ["tool.pre", "hook.trace"]
    assert world.halted == ["guard"]
    assert world.replies == {}
    called = next(record for record in world.records if record.kind == "tool.pre")
    assert (called.data["gate"], called.data["word"]) == ("withdrawn", "withdrawn")
    assert world.says("guard", Allow()) == [], "nobody waits for it"


def test_core_8_a_handler_that_hangs_is_ended_at_its_deadline_and_the_call_denied() -> None:
    world = World(handlers=[gate(timeout_s=3)])
    low(world)
    world.advance(3.0)
    assert world.halted == ["guard"]
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny)
    assert "guard failed (timeout)" in reply.reason
    called = next(record for record in world.records if record.kind == "tool.pre")
    assert called.data["word"] == "denied-failure"


def test_a_chain_ends_before_the_agent_stops_waiting() -> None:
    world = World(handlers=[gate(timeout_s=20)])
    low(world, deadline_s=8.0)
    assert world.engine.next_deadline() == world.now.mono_s + 3.0


def test_the_same_call_over_two_connections_is_heard_once() -> None:
    world = World(handlers=[gate()])
    low(world, 1)
    low(world, 2)
    assert len(world.asked) == 1
    world.says("guard", Block("no"))
    assert all(isinstance(world.replies[conn][0], SayDeny) for conn in (1, 2))


def test_the_same_call_over_two_connections_is_held_once() -> None:
    world = World(handlers=[gate()])
    low(world, 1)
    low(world, 2)
    world.says("guard", Confirm("sure?"))
    assert world.broker.of_conn(1) == world.broker.of_conn(2) is not None


def test_one_of_two_connections_may_go_while_handlers_are_heard() -> None:
    world = World(handlers=[gate()])
    low(world, 1)
    low(world, 2)
    assert world.hang_up(1) == []
    world.says("guard", Block("no"))
    assert isinstance(world.replies[2][0], SayDeny)
    assert 1 not in world.replies


def test_a_core_that_stops_answers_what_is_being_heard_closed() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.do(world.engine.close_all("denied-core-stopped", "stopped", world.now))
    assert isinstance(world.replies[1][0], SayDeny)
    assert world.halted == ["guard"]


def test_what_is_only_observed_is_recorded_at_once_and_its_outcome_is_a_view() -> None:
    world = World(handlers=[gate()])
    assert low(world, lane=Lane.OBSERVE) == ["tool.pre"]
    assert world.says("guard", Block("no")) == ["hook.trace"]
    assert world.records[-1].data["effect"] == "view"
    assert world.replies == {}


def test_in_profile_watch_a_handler_prevents_nothing() -> None:
    world = World("watch", handlers=[gate()])
    low(world)
    world.says("guard", Block("no"))
    assert world.replies[1] == [SayNothing()]


def test_a_rewrite_is_told_under_the_name_of_who_made_it() -> None:
    world = World(handlers=[gate("rewriter"), gate("innocent")])
    low(world)
    world.says("rewriter", Modify({"command": "low -n"}))
    world.says("innocent", Defer())
    request = world.broker.open[world.broker.of_conn(1) or ""]
    assert request.data.rule == "handler rewriter"
    assert "rewritten by handler rewriter" in request.data.reason


def test_texts_for_the_model_go_with_an_operators_allow() -> None:
    world = World(handlers=[gate("hint"), gate("guard")])
    low(world)
    world.says("hint", Inject("use the mirror"))
    world.says("guard", Confirm("sure?"))
    world.allow(world.broker.open[world.broker.of_conn(1) or ""])
    assert world.replies[1] == [SayAllow(context="use the mirror")]


def test_the_gates_of_a_calls_other_lane_are_heard_although_an_operator_allowed_the_first() -> None:
    world = World(handlers=[gate("asked", on="tool.permission")])
    world.allow(world.ask(pre(shell("high", "c1")), 1))
    world.send(permission(shell("high")), 2)
    world.says("asked", Block("not on this lane"))
    assert isinstance(world.replies[2][0], SayDeny)


def test_what_was_allowed_on_one_lane_is_carried_when_the_other_lanes_gates_agree() -> None:
    world = World(handlers=[gate("asked", on="tool.permission")])
    world.allow(world.ask(pre(shell("high", "c1")), 1))
    world.send(permission(shell("high")), 2)
    world.says("asked", Defer())
    assert world.replies[2] == [SayAllow()]


def test_a_dispatch_ends_in_time_for_whoever_waits_least() -> None:
    world = World(handlers=[gate(timeout_s=20)])
    low(world, 1, deadline_s=3660.0)
    low(world, 2, deadline_s=8.0)
    assert world.engine.next_deadline() == world.now.mono_s + 3.0
    world.advance(3.0)
    assert all(isinstance(world.replies[conn][0], SayDeny) for conn in (1, 2))


def test_nobody_waits_for_the_dispatch_of_what_is_only_observed() -> None:
    world = World(handlers=[gate()])
    low(world, 1, lane=Lane.OBSERVE)
    low(world, 2)
    assert len(world.asked) == 2, "it is heard whenever there is time; the gate cannot wait for it"


def test_a_call_that_was_cut_short_and_ran_all_the_same_is_an_alarm() -> None:
    world = World(handlers=[gate()])
    low(world)
    world.do(world.engine.close_all("denied-core-stopped", "stopped", world.now))
    assert isinstance(world.replies[1][0], SayDeny)
    assert "effect.contradicted" in world.send(post(shell("low", "c1")))


def test_the_timeouts_of_what_is_only_observed_rest_no_gate() -> None:
    world = World(handlers=[gate(timeout_s=1)])
    for number in range(4):
        world.send(pre(shell("low", f"o{number}"), lane=Lane.OBSERVE), 0)
        world.says("guard", Failed("timeout"))
    low(world, 9)
    assert world.asked[-1].dispatch_id == len(world.asked), "the gate is asked, not skipped"
    assert 9 not in world.replies


def test_a_rewritten_call_is_denied_where_no_more_can_be_held_on_any_lane(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = World(handlers=[both()])
    monkeypatch.setattr(type(world.broker), "crowded", "too many calls wait already")
    world.send(permission(shell("low", "c1")), 1)
    world.says("guard", Modify({"command": "low -n"}))
    (reply,) = world.replies[1]
    assert isinstance(reply, SayDeny), "handed back, it would run as it was"
    assert "too many calls wait already" in reply.reason


def both(**fields: Any) -> Handler:
    return Handler(id="guard", on=frozenset({"tool.pre", "tool.permission"}), **fields)


def test_a_large_call_is_recorded_whole_once_and_elsewhere_by_its_beginning() -> None:
    world = World(handlers=[gate("a")])
    command = "low " + "x" * 100_000
    world.send(pre(shell(command, "c1")), 1)
    world.says("a", Defer())
    (trace_of_it,) = world.all("hook.trace")
    (call,) = world.all("tool.pre")
    assert len(trace_of_it.data["summary"]) == record_builders.TRACE_SUMMARY_CHARS == 2_000
    assert len(call.data["summary"]) == record_builders.CALL_SUMMARY_CHARS == 65_536
    assert call.data["summary"].endswith("x…")
    assert call.data["tool"]["input"]["command"] == command
