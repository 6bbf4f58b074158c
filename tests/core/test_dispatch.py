from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest

from tests.core.builders import START, post, pre, shell
from watchgate.core.dispatch import Bus, Invoke
from watchgate.core.events import Event, ToolCall
from watchgate.core.handlers import Handler
from watchgate.core.matching import Matcher
from watchgate.core.presets import CONSOLE, DispatchPolicy
from watchgate.core.verdicts import (
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
    Verdict,
)

Says = Verdict | Callable[[dict[str, Any]], Verdict]


def handler(id: str, **fields: Any) -> Handler:
    return Handler(id=id, on=frozenset({"tool.pre"}), **fields)


def run(
    handlers: list[Handler],
    says: Mapping[str, Says],
    *,
    policy: DispatchPolicy = CONSOLE,
    event: Event | None = None,
    took_s: float = 0.0,
) -> Outcome:
    now = START
    dispatch, step = Bus(policy, handlers).start(event or pre(), now)
    while isinstance(step, Invoke):
        assert dispatch is not None
        now = now.plus(took_s)
        said = says[step.handler.id]
        body = step.event.body
        assert isinstance(body, ToolCall)
        verdict = said(body.tool.input) if callable(said) else said
        step = dispatch.feed(step.handler.id, verdict, now)
    return step


def seen(outcome: Outcome) -> list[tuple[str, str]]:
    return [(row.handler, row.why or row.verdict or "") for row in outcome.trace]


@pytest.mark.parametrize("cause", get_args(FailureCause))
def test_core_1_a_fault_of_a_handler_is_an_outcome(cause: FailureCause) -> None:
    outcome = run([handler("a")], {"a": Failed(cause, "details")})
    assert (outcome.decision, outcome.decided_by) == ("deny", "a")
    assert outcome.reason == f"a failed ({cause}): details"
    assert run([handler("a", role="observer")], {"a": Failed(cause)}).decision == "none"


def test_core_1_an_answer_of_somebody_else_is_the_drivers_mistake() -> None:
    dispatch, _ = Bus(CONSOLE, [handler("a")]).start(pre(), START)
    assert dispatch is not None
    with pytest.raises(ValueError, match="b is not running"):
        dispatch.feed("b", Allow(), START)


def test_core_2_nobody_to_ask_makes_no_dispatch_and_no_trace() -> None:
    bus = Bus(CONSOLE, [handler("a")])
    dispatch, outcome = bus.start(post(), START)
    assert dispatch is None
    assert outcome == Outcome(decision="none")
    assert bus.start(post(), START)[1] is outcome


def test_core_3_the_time_that_handlers_take_changes_no_outcome() -> None:
    handlers = [handler("a"), handler("b"), handler("c", role="observer")]
    says: dict[str, Says] = {"a": Confirm("ask"), "b": Inject("hint"), "c": Allow()}
    slow, fast = (run(handlers, says, took_s=took_s) for took_s in (3.0, 0.0))
    assert (slow.decision, slow.reason, slow.injections) == ("confirm", "ask", ("hint",))
    assert seen(slow) == seen(fast)
    assert [row.duration_ms for row in slow.trace] == [3000.0] * 3


def test_core_4_a_handler_added_during_a_dispatch_is_not_part_of_it() -> None:
    bus = Bus(CONSOLE, [handler("a")])
    dispatch, _ = bus.start(pre(), START)
    assert dispatch is not None
    bus.register(handler("b", priority=0))
    outcome = dispatch.feed("a", Allow(), START)
    assert isinstance(outcome, Outcome)
    assert seen(outcome) == [("a", "allow")]
    step = bus.start(pre(), START)[1]
    assert isinstance(step, Invoke)
    assert step.handler.id == "b"


def test_core_5_every_handler_has_one_row_that_says_what_it_did_or_why_not() -> None:
    handlers = [
        handler("other", match=Matcher("exact", "Read")),
        handler("mine", match=Matcher("prefix", "Ba")),
        handler("late", priority=200),
        handler("tail", priority=300, role="observer"),
    ]
    outcome = run(handlers, {"mine": Block("no"), "tail": Defer()})
    assert seen(outcome) == [
        ("other", "matcher"),
        ("mine", "block"),
        ("late", "after-stop"),
        ("tail", "defer"),
    ]
    assert [row.ignored for row in outcome.trace] == [False, False, False, True]


def test_core_5_one_id_is_one_handler() -> None:
    with pytest.raises(ValueError, match="a handler a already"):
        Bus(CONSOLE, [handler("a"), Handler(id="a", on=frozenset({"tool.post"}))])


def test_core_6_an_open_failure_never_turns_a_block_into_anything_else() -> None:
    handlers = [handler("a"), handler("b", on_failure="open")]
    policy = DispatchPolicy(name="runs on", stop_on=frozenset())
    outcome = run(handlers, {"a": Block("no"), "b": Failed("crash")}, policy=policy)
    assert (outcome.decision, outcome.reason) == ("deny", "no")
    assert run([handlers[1]], {"b": Failed("crash")}).decision == "none"


@pytest.mark.parametrize("count", [1, 3, 20])
def test_core_8_the_total_deadline_holds_even_if_every_handler_hangs(count: int) -> None:
    handlers = [handler(f"h{n}", timeout_s=4, on_failure="open") for n in range(count)]
    dispatch, step = Bus(CONSOLE, [*handlers, handler("last")]).start(pre(), START)
    assert dispatch is not None
    now = START
    while isinstance(step, Invoke):
        assert dispatch.expire(now) is None
        assert step.deadline_s == dispatch.next_deadline() <= START.mono_s + 30
        now = now.plus(dispatch.next_deadline() - now.mono_s)
        following = dispatch.expire(now)
        assert following is not None
        step = following
    assert now.mono_s <= START.mono_s + 30
    assert (step.decision, step.decided_by) == ("deny", "last")
    assert len(step.trace) == count + 1


def test_core_8_an_observer_that_must_not_fail_counts_as_failed_when_its_time_is_gone() -> None:
    audit = handler("audit", role="observer", on_failure="closed")
    handlers = [handler("slow", role="observer"), audit]
    outcome = run(handlers, {"slow": Allow()}, took_s=31)
    assert (outcome.decision, outcome.decided_by) == ("deny", "audit")


def test_a_rewrite_is_judged_by_every_gate_also_by_those_before_it() -> None:
    def careful(seen_input: dict[str, Any]) -> Verdict:
        return Block("not that") if seen_input["command"] == "rm" else Allow()

    def hinting(seen_input: dict[str, Any]) -> Verdict:
        return Block("no") if seen_input["command"] == "mv" else Inject("hint")

    handlers = [handler("first"), handler("hint"), handler("rewriter")]
    says: dict[str, Says] = {"first": careful, "hint": hinting}
    for command, denier in (("rm", "first"), ("mv", "hint"), ("ls", None)):
        says["rewriter"] = Modify({"command": command})
        outcome = run(handlers, says, event=pre(shell("high", "c")))
        assert outcome.decided_by == (denier or "first")
        assert outcome.input == (None if denier else {"command": command})
        assert outcome.injections == (() if denier else ("hint",))


def test_a_rewrite_without_an_input_is_a_failure_unless_the_policy_ignores_it() -> None:
    assert run([handler("a")], {"a": Modify(None)}).decision == "deny"
    lenient = DispatchPolicy(name="lenient", modify_without_payload="ignore")
    assert run([handler("a")], {"a": Modify(None)}, policy=lenient).decision == "none"


def test_an_abort_denies_and_ends_the_turn() -> None:
    outcome = run([handler("a")], {"a": Abort("enough")})
    assert (outcome.decision, outcome.stop_turn, outcome.reason) == ("deny", True, "enough")


def test_the_fold_is_the_policys() -> None:
    handlers = [handler("a"), handler("b")]
    says: dict[str, Says] = {"a": Allow("yes"), "b": Confirm("ask")}
    first = DispatchPolicy(name="first", fold="first_decision", order="registration")
    assert run(handlers, says, policy=first).decision == "allow"
    assert run(handlers, says).decision == "confirm"


def test_injections_stop_at_the_cap() -> None:
    small = DispatchPolicy(name="small", inject_cap=5)
    handlers = [handler(name) for name in "abc"]
    says = {"a": Inject("123"), "b": Inject("456"), "c": Inject("7")}
    assert run(handlers, says, policy=small).injections == ("123",)
