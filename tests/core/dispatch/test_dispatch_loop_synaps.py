"""SynapsCLI's hook bus on the one loop, and what was wrong with it."""

from __future__ import annotations

import msgspec
import pytest

from tests.core.builders import START, other, post, pre
from tests.core.dispatching import Played, Says, begun, handler, play, run
from watchgate.core.dispatch.dispatch_loop import Dispatch
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handler_matchers import ANY, InputContains, Matcher
from watchgate.core.dispatch.handler_matchers import ToolCondition as Named
from watchgate.core.dispatch.handlers import RegistrationError
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, SYNAPS_CHAIN, DispatchPolicy
from watchgate.core.model.events import Lane, Tool
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Failed,
    Inject,
    Modify,
    Outcome,
    Report,
    Verdict,
)

PROMPT = other("prompt.submit", Lane.GATE)


def synaps(said: dict[str, Says], kind: str = "tool.pre", **fields: object) -> Played:
    event = pre() if kind == "tool.pre" else other(kind, Lane.GATE)  # type: ignore[arg-type]
    hooks = [handler(key, kind, **fields) for key in said]
    return run(hooks, said, policy=SYNAPS_CHAIN, event=event)


def test_sy_1_without_a_handler_the_call_continues_at_once() -> None:
    bus = Bus(SYNAPS_CHAIN, [handler("a", "tool.post")])
    outcome = bus.start(pre(), START)
    assert isinstance(outcome, Outcome)
    assert (outcome.decision, outcome.trace) == ("allow", ())
    assert bus.start(pre(session="two"), START) is outcome


def test_sy_2_a_hook_without_its_permission_is_not_registered() -> None:
    bus = Bus(SYNAPS_CHAIN)
    with pytest.raises(RegistrationError) as refused:
        bus.register(handler("guard", permissions=frozenset({"session.lifecycle"})))
    assert str(refused.value).startswith("guard has no permission tools.intercept for tool.pre")
    assert bus.is_empty
    bus.register(handler("guard", permissions=frozenset({"tools.intercept"})))
    assert bus.handler_count == 1


def test_sy_3_handlers_run_in_the_order_of_registration_on_the_list_as_it_was() -> None:
    bus = Bus(SYNAPS_CHAIN, [handler("a", priority=9), handler("b", priority=1)])
    dispatch = bus.start(pre(), START)
    assert isinstance(dispatch, Dispatch)
    assert [call.handler.id for call in dispatch.begin(START)] == ["a"]
    bus.register(handler("c"))
    bus.remove("b")
    (call,) = dispatch.feed("a", Report(verdict=Allow()), START)
    assert call.handler.id == "b"
    assert dispatch.feed("b", Report(verdict=Allow()), START) == []
    assert play(bus, {"a": Allow(), "c": Allow()}).ran == ("a", "c")


def test_sy_4_sy_7_filters_and_matchers_choose_the_events() -> None:
    match = Matcher((Named(("fs_read",)), InputContains("secret")))
    bus = Bus(SYNAPS_CHAIN, [handler("a", match=match)])

    def ran(name: str, native: str, path: str) -> tuple[str, ...]:
        event = pre(Tool(name, native, "read", {"path": path}, "hash"))
        return play(bus, {"a": Allow()}, event).ran

    assert ran("fs:read", "fs_read", "secret.txt") == ("a",)
    assert ran("fs_read", "fs:read", "secret.txt") == ("a",)
    assert ran("fs:write", "fs_write", "secret.txt") == ()
    assert ran("fs:read", "fs_read", "a.txt") == ()
    assert Bus(SYNAPS_CHAIN, [handler("b", match=ANY)]).start(pre(), START) is not None


@pytest.mark.parametrize(
    ("verdict", "decision"),
    [(Block("no"), "deny"), (Modify({"command": "x"}), "allow"), (Confirm("sure?"), "confirm")],
)
def test_sy_8_sy_9_sy_10_block_modify_and_confirm_return_at_once(
    verdict: Verdict, decision: str
) -> None:
    played = synaps({"a": Allow(), "b": verdict, "c": Block("later")})
    assert played.ran == ("a", "b")
    assert played.row("c").why == "after-stop"
    assert played.outcome.decision == decision
    assert played.outcome.input == ({"command": "x"} if isinstance(verdict, Modify) else None)


def test_sy_11_injected_texts_are_all_collected_in_order() -> None:
    said: dict[str, Says] = {
        "a": Inject("one"),
        "b": Block("ignored"),
        "c": Inject("two"),
        "d": Modify({"text": "ignored"}),
        "e": Inject("three"),
    }
    played = synaps(said, "prompt.submit")
    assert played.ran == tuple("abcde")
    assert SYNAPS_CHAIN.joined_by.join(played.outcome.injections) == "one\n\ntwo\n\nthree"
    assert played.outcome.decision == "allow"


def test_sy_12_continue_goes_to_the_next() -> None:
    played = synaps({"a": Allow(), "b": Allow(), "c": Block("no")})
    assert played.ran == ("a", "b", "c")
    assert played.outcome.decided_by == "c"


@pytest.mark.parametrize(
    ("kind", "verdict"),
    [
        ("tool.pre", Inject("text")),
        ("tool.post", Block("no")),
        ("tool.error", Modify({})),
        ("prompt.submit", Block("no")),
        ("message", Confirm("sure?")),
        ("compact.post", Inject("text")),
        ("session.start", Block("no")),
        ("session.end", Modify({})),
    ],
)
def test_sy_13_sy_b4_a_result_that_the_kind_does_not_take_is_ignored_and_said_so(
    kind: str, verdict: Verdict
) -> None:
    played = synaps({"a": verdict, "b": Allow()}, kind)
    row = played.row("a")
    assert (row.status, row.ignored) == ("ran", True)
    assert f"is not allowed at {kind}" in row.detail
    assert played.ran == ("a", "b")
    assert (played.outcome.decision, played.outcome.injections) == ("allow", ())


def test_sy_14_a_slow_handler_counts_as_continue_after_five_seconds() -> None:
    played = synaps({"slow": None, "next": Allow()})
    assert (played.took_s, played.ran) == (5, ("slow", "next"))
    assert played.row("slow").detail.startswith(
        "it failed, and fails open: timeout: no answer in 5"
    )
    assert (played.outcome.decision, played.outcome.decided_by) == ("allow", "next")


def test_sy_16_a_question_that_nobody_can_answer_blocks_under_this_preset() -> None:
    assert synaps({"a": Confirm("sure?")}).outcome.decision == "confirm"
    assert SYNAPS_CHAIN.confirm_unattended == "block"
    policy = msgspec.structs.replace(SYNAPS_CHAIN, confirm="block")
    outcome = run([handler("a")], {"a": Confirm("sure?")}, policy=policy).outcome
    assert outcome.decision == "deny"
    assert outcome.reason == "requires confirmation, and nobody is asked here: sure?"


def test_sy_18_leaving_removes_every_hook_of_an_extension() -> None:
    ids = ["guard", "guard:tool", "guard:end:1", "guardian", "other"]
    bus = Bus(SYNAPS_CHAIN, [handler(key, "tool.pre", "session.end") for key in ids])
    assert bus.remove("guard") == 3
    assert bus.handler_count == 4
    assert play(bus, {"guardian": Allow(), "other": Allow()}).ran == ("guardian", "other")
    assert bus.remove("guard") == 0
    bus.register(handler("guard"))


def test_sy_19_what_an_extension_subscribed_to_is_listed_in_order() -> None:
    bus = Bus(
        SYNAPS_CHAIN,
        [
            handler("x:1", "tool.pre", match=Matcher((Named(("write",)),))),
            handler("x:2", "tool.pre"),
            handler("x:3", "tool.pre", match=Matcher((Named(("bash",)),))),
            handler("x:4", "session.end"),
            handler("y", "session.end"),
        ],
    )
    assert bus.subscriptions("x") == [
        ("session.end", None),
        ("tool.pre", None),
        ("tool.pre", "bash"),
        ("tool.pre", "write"),
    ]
    assert bus.subscriptions("nobody") == []


def test_sy_20_counts_are_over_all_kinds() -> None:
    bus = Bus(SYNAPS_CHAIN)
    assert (bus.handler_count, bus.is_empty) == (0, True)
    bus.register(handler("a", "tool.pre", "tool.post", "session.end"))
    bus.register(handler("b"))
    assert (bus.handler_count, bus.is_empty) == (4, False)
    bus.remove("a")
    bus.remove("b")
    assert (bus.handler_count, bus.is_empty) == (0, True)


def test_sy_29_a_rewrite_without_an_input_blocks_and_other_noise_continues() -> None:
    assert synaps({"a": Modify(None)}).outcome.decision == "deny"
    for noise in (Failed("protocol", "an error"), Failed("parse", "no JSON")):
        assert synaps({"a": noise}).outcome.decision == "allow"


@pytest.mark.parametrize("failed", [Failed("timeout"), Failed("crash"), Failed("protocol")])
def test_sy_b1_every_handler_may_choose_that_its_failure_blocks(failed: Failed) -> None:
    for policy in (SYNAPS_CHAIN, CONSOLE):
        closed = run([handler("a", on_failure="closed")], {"a": failed}, policy=policy)
        assert (closed.outcome.decision, closed.outcome.failed) == ("deny", failed.cause)
        opened = run([handler("a", on_failure="open")], {"a": failed}, policy=policy)
        assert opened.outcome.decision == policy.no_match
    assert run([handler("a")], {"a": failed}, policy=CONSOLE).outcome.decision == "deny"


@pytest.mark.parametrize("steering", [Modify({"command": "ls"}), Confirm("sure?")])
@pytest.mark.parametrize("place", [0, 1])
def test_sy_b2_a_blocker_sees_the_call_before_or_after_who_rewrites_or_asks(
    steering: Verdict, place: int
) -> None:
    said: dict[str, Says] = {"steer": steering, "blocker": Block("policy")}
    hooks = [handler("steer", priority=1 - place), handler("blocker", priority=place)]
    outcome = run(hooks, said, policy=CONSOLE).outcome
    assert (outcome.decision, outcome.decided_by, outcome.input) == ("deny", "blocker", None)


def test_sy_b3_nobody_is_asked_about_what_policy_forbids() -> None:
    said: dict[str, Says] = {"ask": Confirm("deploy?"), "policy": Block("not on Friday")}
    hooks = [handler("ask"), handler("policy")]
    assert run(hooks, said, policy=CONSOLE).outcome.decision == "deny"
    as_it_was = run(hooks, said, policy=SYNAPS_CHAIN)
    assert (as_it_was.outcome.decision, as_it_was.ran) == ("confirm", ("ask",))


def test_sy_b6_sd_b5_the_bus_refuses_a_tool_filter_where_there_is_no_tool() -> None:
    for policy in (SYNAPS_CHAIN, CONSOLE, PRESETS["sdk-first-match"]):
        bus = Bus(policy)
        with pytest.raises(RegistrationError, match=r"never fits session\.end, which has none"):
            bus.register(handler("a", "tool.pre", "session.end", match=Matcher((Named(("x",)),))))
        assert bus.is_empty


def test_sy_b8_a_hung_handler_costs_nothing_after_three_timeouts_until_it_is_tried_again() -> None:
    bus = Bus(SYNAPS_CHAIN, [handler("hung"), handler("next")])
    said: dict[str, Says] = {"hung": None, "next": Allow()}
    assert [play(bus, said).took_s for _ in range(4)] == [5, 5, 5, 0]
    dispatch = bus.start(pre(), START.plus(60))
    assert isinstance(dispatch, Dispatch)
    assert [call.handler.id for call in dispatch.begin(START.plus(60))] == ["hung"]
    dispatch.feed("hung", Report(verdict=Allow()), START.plus(60))
    assert play(bus, {"hung": Allow(), "next": Allow()}).ran == ("hung", "next")


def test_sy_b9_waiting_behind_others_is_traced_apart_from_the_run() -> None:
    dispatch = begun([handler("a"), handler("b", timeout_s=2)])
    dispatch.begin(START)
    (call,) = dispatch.feed("a", Report(verdict=Allow()), START.plus(4))
    assert call.deadline_s == START.mono_s + 6
    dispatch.feed("b", Report(verdict=Allow()), START.plus(5))
    rows = {row.handler: row for row in dispatch.trace()}
    assert (rows["b"].start_ms, rows["b"].duration_ms, rows["b"].limit_s) == (4000, 1000, 2)


@pytest.mark.parametrize("policy", [SYNAPS_CHAIN, CONSOLE], ids=lambda policy: policy.name)
def test_sy_b15_injected_text_is_bounded_each_and_in_all(policy: DispatchPolicy) -> None:
    hooks = [handler(key, "prompt.submit") for key in "abcd"]
    said: dict[str, Says] = {key: Inject(key * 10_000_000) for key in "abcd"}
    texts = run(hooks, said, policy=policy, event=PROMPT).outcome.injections
    assert [len(text) for text in texts] == [policy.inject_each_cap] * 2
    assert sum(map(len, texts)) <= policy.inject_cap
    small = run(hooks, {key: Inject(key) for key in "abcd"}, policy=policy, event=PROMPT)
    assert small.outcome.injections == ("a", "b", "c", "d")


def test_sy_b16_the_order_of_texts_is_explicit_and_stable() -> None:
    hooks = [
        handler("late", "prompt.submit", priority=9),
        handler("b", "prompt.submit", priority=5),
        handler("a", "prompt.submit", priority=5),
        handler("early", "prompt.submit", priority=1),
    ]
    said: dict[str, Says] = {each.id: Inject(each.id) for each in hooks}
    texts = run(hooks, said, policy=CONSOLE, event=PROMPT).outcome.injections
    assert texts == ("early", "b", "a", "late")


def test_a_word_that_synaps_lacks_still_denies_a_call() -> None:
    outcome = synaps({"a": Abort("enough"), "b": Defer()}).outcome
    assert (outcome.decision, outcome.stop_turn) == ("deny", True)


def test_after_a_tool_nothing_is_decided() -> None:
    hook = handler("a", "tool.post")
    played = run([hook], {"a": Block("no")}, policy=SYNAPS_CHAIN, event=post())
    assert (played.outcome.decision, played.outcome.effect) == ("allow", "view")
