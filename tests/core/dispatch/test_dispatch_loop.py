"""What holds of every dispatch, whatever its policy."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.core.builders import START, other, post, pre
from tests.core.dispatching import Says, begun, handler, play, run
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_matchers import (
    CommandContains,
    Matcher,
    ToolCondition,
    ToolPrefix,
)
from watchgate.core.dispatch.handlers import RegistrationError
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, DispatchPolicy, PresetName
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    FailureCause,
    Inject,
    Modify,
    Outcome,
    Report,
    Run,
)

SDK_NATIVE = "item.started/command_execution"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("cause", get_args(FailureCause))
def test_core_1_a_fault_of_a_handler_is_an_outcome(cause: FailureCause, preset: PresetName) -> None:
    event = msgspec.structs.replace(pre(), native=SDK_NATIVE)
    for role in ("gate", "observer", "sink"):
        said = {"a": Failed(cause, "details")}
        played = run([handler("a", role=role)], said, policy=PRESETS[preset], event=event)
        assert played.row("a").verdict == "failed"
        assert f"{cause}: details" in played.row("a").detail or cause == "timeout"


def test_core_1_a_closed_failure_says_who_failed_and_how() -> None:
    played = run([handler("a")], {"a": Failed("exit", "exit code 3")})
    assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "a")
    assert played.outcome.reason == "a failed (exit): exit code 3"
    assert played.outcome.failed == "exit"


def test_core_1_an_answer_that_nobody_waits_for_changes_nothing() -> None:
    dispatch = begun([handler("a"), handler("b")])
    dispatch.begin(START)
    assert dispatch.feed("b", Report(verdict=Block("no")), START) == []
    assert dispatch.feed("nobody", Report(verdict=Block("no")), START) == []
    assert dispatch.running == {"a"}
    assert dispatch.outcome is None


@pytest.mark.parametrize("preset", PRESETS)
def test_core_2_core_7_nobody_to_ask_makes_no_dispatch_and_no_row(preset: PresetName) -> None:
    policy = PRESETS[preset]
    bus = Bus(policy, [handler("a", "tool.pre")])
    outcome = bus.start(post(), START)
    assert isinstance(outcome, Outcome)
    assert (outcome.decision, outcome.trace) == (policy.no_match, ())
    assert outcome.effect == policy.effect("tool.post")
    assert bus.start(post(), START) is outcome


def test_core_2_an_event_that_nobody_wants_costs_no_new_rows() -> None:
    bus = Bus(CONSOLE, [handler("a", match=Matcher((ToolCondition(("Read",)),)))])
    outcome = bus.start(pre(), START)
    assert isinstance(outcome, Outcome)
    assert [(row.handler, row.why) for row in outcome.trace] == [("a", "matcher")]
    assert bus.start(pre(session="two"), START) is outcome


def test_core_3_the_time_that_handlers_take_changes_no_outcome() -> None:
    handlers = [handler("a"), handler("b"), handler("c", role="observer")]
    says: dict[str, Says] = {"a": Confirm("ask"), "b": Inject("hint"), "c": Allow()}
    slow, fast = (run(handlers, says, took_s=took_s) for took_s in (1.0, 0.0))
    assert (slow.outcome.decision, slow.outcome.reason) == ("confirm", "ask")
    assert slow.outcome.injections == ("hint",)
    assert slow.seen == fast.seen
    assert [slow.row(key).duration_ms for key in "abc"] == [2000.0, 1000.0, 1000.0]
    assert [slow.row(key).start_ms for key in "abc"] == [0.0, 2000.0, 0.0]


@pytest.mark.parametrize("last", [0, -1])
def test_core_3_texts_stand_in_the_chains_order_whoever_ends_first(last: int) -> None:
    handlers = [handler("a"), handler("b"), handler("c")]
    says: dict[str, Says] = {"a": Inject("one"), "b": Inject("two"), "c": Inject("three")}
    played = run(handlers, says, policy=PRESETS["codex-fork-v2"], ends_next=lambda _: last)
    assert played.outcome.injections == ("one", "two", "three")


@pytest.mark.parametrize("preset", PRESETS)
def test_core_3_a_policy_that_depends_on_who_is_first_cannot_be_made(preset: PresetName) -> None:
    policy = PRESETS[preset]
    if policy.parallel > 1:
        for change in ({"stop_on": frozenset({"block"})}, {"payload_view": "threaded"}):
            with pytest.raises(ValueError, match="can neither stop nor thread"):
                msgspec.structs.replace(policy, **change).__post_init__()


def test_core_4_a_handler_added_or_removed_meanwhile_changes_no_running_dispatch() -> None:
    bus = Bus(CONSOLE, [handler("a"), handler("z")])
    dispatch = bus.start(pre(), START)
    assert isinstance(dispatch, Dispatch)
    dispatch.begin(START)
    bus.register(handler("b", priority=0))
    assert bus.remove("z") == 1
    (call,) = dispatch.feed("a", Report(verdict=Allow()), START)
    assert call.handler.id == "z"
    dispatch.feed("z", Report(verdict=Block("no")), START)
    assert dispatch.outcome is not None
    assert (dispatch.outcome.decision, dispatch.outcome.decided_by) == ("deny", "z")
    said: dict[str, Says] = {"a": Allow(), "b": Allow()}
    assert play(bus, said).seen == [("b", "allow"), ("a", "allow")]
    assert bus.remove("a") == 1
    assert play(bus, said).seen == [("b", "allow")]


def test_core_5_every_handler_has_one_row_that_says_what_it_did_or_why_not() -> None:
    handlers = [
        handler("other", match=Matcher((ToolCondition(("Read",)),))),
        handler("off", disabled=True),
        handler("mine", match=Matcher((ToolPrefix("Ba"),))),
        handler("late", priority=200),
        handler("tail", priority=300, role="observer"),
    ]
    played = run(handlers, {"mine": Block("no"), "tail": Defer()})
    assert played.seen == [
        ("other", "matcher"),
        ("off", "disabled"),
        ("mine", "block"),
        ("late", "after-stop"),
        ("tail", "defer"),
    ]
    assert [row.ignored for row in played.trace] == [False, False, False, False, True]


def test_core_5_a_row_says_how_the_run_went() -> None:
    went = Run(queue_ms=1.5, exit_code=3, stderr="oops", env=("PATH",))
    said = {"a": Report(verdict=Failed("exit", "exit code 3"), run=went)}
    row = run([handler("a", kind="command", timeout_s=2)], said, took_s=1).row("a")
    assert (row.kind, row.run, row.limit_s, row.times) == ("command", went, 2.0, 1)


def test_core_5_one_id_is_one_handler() -> None:
    with pytest.raises(RegistrationError, match="a handler a already"):
        Bus(CONSOLE, [handler("a"), handler("a", "tool.post")])


def test_core_6_an_open_failure_never_turns_a_block_into_anything_else() -> None:
    handlers = [handler("a"), handler("b", on_failure="open")]
    policy = DispatchPolicy(name="runs on", stop_on=frozenset())
    played = run(handlers, {"a": Block("no"), "b": Failed("crash")}, policy=policy)
    assert (played.outcome.decision, played.outcome.reason) == ("deny", "no")
    assert run([handlers[1]], {"b": Failed("crash")}).outcome.decision == "none"


def test_core_6_an_open_failure_that_ends_the_chain_keeps_the_block_before_it() -> None:
    policy = DispatchPolicy(name="ends", stop_on=frozenset(), after_open_failure="end")
    handlers = [handler("a"), handler("b", on_failure="open"), handler("c")]
    played = run(handlers, {"a": Block("no"), "b": Failed("crash")}, policy=policy)
    assert played.outcome.decision == "deny"
    assert played.row("c").why == "after-stop"


def test_a_rewrite_runs_gates_again_once_each_also_those_that_run_once_a_session() -> None:
    handlers = [handler("ask", once=True), handler("two"), handler("three"), handler("rewriter")]

    def second(found: dict[str, object]) -> Modify | Allow:
        return Modify({"command": "b"}) if found["command"] == "a" else Allow()

    said: dict[str, Says] = {"ask": Confirm("ask"), "two": second, "three": Allow()}
    said["rewriter"] = Modify({"command": "a"})
    played = run(handlers, said)
    assert (played.outcome.decision, played.outcome.decided_by) == ("confirm", "ask")
    assert played.outcome.input == {"command": "b"}
    assert played.ran == ("ask", "two", "three", "rewriter", "ask", "two", "ask", "three")
    assert [row.times for row in played.trace] == [3, 2, 2, 1]


def test_a_gate_that_did_not_fit_the_input_is_asked_when_a_rewrite_makes_it_fit() -> None:
    removing = handler("no-rm", match=Matcher((CommandContains("rm"),)))
    said: dict[str, Says] = {"no-rm": Block("no"), "rewriter": Modify({"command": "rm -rf"})}
    played = run([removing, handler("rewriter")], said)
    assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "no-rm")


def test_an_opinion_about_an_input_that_was_rewritten_away_is_dropped() -> None:
    removing = handler("rm", match=Matcher((CommandContains("high"),)))
    said: dict[str, Says] = {"rm": Confirm("sure?"), "rewriter": Modify({"command": "ls"})}
    played = run([removing, handler("rewriter")], said)
    assert (played.outcome.decision, played.outcome.input) == ("none", {"command": "ls"})
    assert played.row("rm").why == "matcher"


def test_an_abort_denies_and_ends_the_turn() -> None:
    outcome = run([handler("a")], {"a": Abort("enough")}).outcome
    assert (outcome.decision, outcome.stop_turn, outcome.reason) == ("deny", True, "enough")


def test_the_fold_is_the_policys() -> None:
    handlers = [handler("a"), handler("b")]
    says: dict[str, Says] = {"a": Allow("yes"), "b": Confirm("ask")}
    policy = DispatchPolicy(name="first", fold="first_decision", order="registration")
    assert run(handlers, says, policy=policy).outcome.decision == "allow"
    assert run(handlers, says).outcome.decision == "confirm"


def test_a_rewrite_without_an_input_may_be_ignored() -> None:
    lenient = DispatchPolicy(name="lenient", modify_without_payload="ignore")
    assert run([handler("a")], {"a": Modify(None)}, policy=lenient).outcome.decision == "none"


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"on": frozenset()}, "names no event"),
        ({"on": frozenset({"tool.prep"})}, "there is no event 'tool.prep'; use one of"),
        ({"timeout_s": 0}, "timeout_s = 0 would fail every call"),
    ],
)
def test_a_handler_that_could_never_run_is_refused(
    changed: dict[str, object], message: str
) -> None:
    bus = Bus(CONSOLE)
    with pytest.raises(RegistrationError, match=message):
        bus.register(msgspec.structs.replace(handler("a"), **changed))
    assert bus.is_empty


def test_a_bus_refuses_a_timeout_of_zero_and_keeps_the_others() -> None:
    bus = Bus(CONSOLE)
    for each in (handler("a"), handler("b")):
        bus.register(each)
    with pytest.raises(RegistrationError, match="timeout_s = 0 would fail every call"):
        bus.register(handler("zero", timeout_s=0))
    assert bus.handler_count == 2


def test_events_about_no_tool_reach_their_handlers() -> None:
    event = other("prompt.submit", Lane.GATE)
    played = run([handler("a", "prompt.submit")], {"a": Allow()}, event=event)
    assert played.seen == [("a", "allow")]
