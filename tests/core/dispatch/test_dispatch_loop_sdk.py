"""codex-cli-sdk's hooks on the one loop: first match, after the fact; and what was wrong there."""

from __future__ import annotations

from typing import get_args

import msgspec
import pytest

from tests.core.builders import other, post, pre, shell
from tests.core.dispatching import Played, Says, handler, run
from watchgate.core.dispatch.handler_matchers import (
    CommandContains,
    CommandWord,
    Condition,
    Matcher,
)
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, SDK_FIRST_MATCH, PresetName
from watchgate.core.model.events import Event
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
    Verdict,
)

GATE_CALLS = {"console", "codex-fork-v1", "codex-fork-v2", "codex-permission", "synaps-chain"}


def started(command: str = "rm -rf build") -> Event:
    return msgspec.structs.replace(pre(shell(command)), native="item.started/command_execution")


def sdk(hooks: list[Handler], said: dict[str, Says], event: Event | None = None) -> Played:
    return run(hooks, said, policy=SDK_FIRST_MATCH, event=event or started())


def hook(key: str, condition: Condition | None = None, **fields: object) -> Handler:
    match = Matcher((condition,)) if condition is not None else Matcher()
    return handler(key, match=match, **fields)


@pytest.mark.parametrize(
    "native", ["thread.started", "turn.started", "item.updated", "item.started/mcp_tool_call"]
)
def test_sd_5_other_events_pass_unasked(native: str) -> None:
    event = msgspec.structs.replace(started(), native=native)
    played = sdk([hook("a")], {"a": Block("no")}, event)
    assert (played.outcome.decision, played.ran) == ("none", ())
    assert played.seen == [("a", "filter")]


@pytest.mark.parametrize(
    "verdict", [Allow(), Block("no"), Modify({"command": "x"}), Abort("stop"), Defer()]
)
def test_sd_8_the_first_that_matches_and_returns_decides_whatever_it_returns(
    verdict: Verdict,
) -> None:
    hooks = [hook("other", CommandContains("git")), hook("first"), hook("second")]
    played = sdk(hooks, {"first": verdict, "second": Block("never asked")})
    assert played.ran == ("first",)
    assert played.outcome.decided_by == "first"
    assert played.seen[0] == ("other", "matcher")
    assert played.seen[2] == ("second", "after-stop")


def test_sd_9_a_command_filter_looks_for_a_piece_of_the_command() -> None:
    hooks = [hook("rm", CommandContains("rm"))]
    assert sdk(hooks, {"rm": Block("no")}, started("npm run confirm")).ran == ("rm",)
    assert sdk(hooks, {"rm": Block("no")}, started("ls")).ran == ()


def test_sd_10_nobody_matched_is_not_an_allow() -> None:
    played = sdk([hook("git", CommandContains("git"))], {})
    assert (played.outcome.decision, played.outcome.decided_by) == ("none", None)
    assert sdk([hook("a")], {"a": Allow()}).outcome.decision == "allow"


def test_sd_11_a_timeout_goes_on_to_the_next_or_blocks_as_chosen() -> None:
    said: dict[str, Says] = {"slow": None, "next": Allow()}
    opened = sdk([hook("slow", on_failure="open"), hook("next")], said)
    assert (opened.ran, opened.outcome.decision) == (("slow", "next"), "allow")
    closed = sdk([hook("slow", on_failure="closed", timeout_s=2), hook("next")], said)
    assert (closed.ran, closed.outcome.decision) == (("slow",), "deny")
    assert closed.outcome.reason == "slow failed (timeout): no answer in 2 s"
    assert closed.took_s == 2
    assert sdk([hook("slow", on_failure="open"), hook("next")], said).took_s == 5


def test_sd_12_an_open_timeout_of_the_last_hook_is_nothing() -> None:
    played = sdk([hook("slow", on_failure="open")], {"slow": None})
    assert (played.outcome.decision, played.outcome.decided_by) == ("none", None)


def test_sd_13_allow_passes_the_event_on_as_it_is() -> None:
    outcome = sdk([hook("a")], {"a": Allow()}).outcome
    assert (outcome.decision, outcome.input, outcome.stop_turn) == ("allow", None, False)


def test_sd_14_sd_19_block_hides_the_event_and_prevents_nothing() -> None:
    outcome = sdk([hook("a")], {"a": Block("noise")}).outcome
    assert (outcome.decision, outcome.effect) == ("deny", "view")


def test_sd_15_modify_shows_the_replacement() -> None:
    outcome = sdk([hook("a")], {"a": Modify({"command": "shown instead"})}).outcome
    assert (outcome.decision, outcome.input) == ("none", {"command": "shown instead"})
    assert outcome.effect == "view"


def test_sd_16_a_rewrite_without_a_replacement_blocks_for_a_gate_and_is_traced_for_others() -> None:
    gate = sdk([hook("a")], {"a": Modify(None)})
    assert (gate.outcome.decision, gate.outcome.failed) == ("deny", "malformed")
    watching = sdk([hook("a", role="observer")], {"a": Modify(None)})
    assert (watching.outcome.decision, watching.outcome.input) == ("none", None)
    assert (watching.row("a").verdict, watching.row("a").ignored) == ("modify", True)


def test_sd_17_abort_ends_the_stream() -> None:
    outcome = sdk([hook("a"), hook("b")], {"a": Abort("enough"), "b": Allow()}).outcome
    assert (outcome.decision, outcome.stop_turn) == ("deny", True)


def test_sd_18_hooks_have_decided_before_a_consumer_hears_of_the_event() -> None:
    hooks = [hook("open", on_failure="open"), hook("decides"), hook("shown", role="sink")]
    said: dict[str, Says] = {"open": Failed("crash"), "decides": Block("no"), "shown": Allow()}
    played = sdk(hooks, said)
    assert played.outcome.decided_by == "decides"
    assert played.row("shown").ignored


@pytest.mark.parametrize("preset", PRESETS)
def test_sd_b1_core_7_an_outcome_after_the_fact_is_called_a_view(preset: PresetName) -> None:
    policy = PRESETS[preset]
    ended = msgspec.structs.replace(post(), native="item.completed/command_execution")
    said: dict[str, Says] = {"a": Block("no")}
    for event, gates in ((started(), GATE_CALLS), (ended, set[str]())):
        outcome = run([handler("a", event.kind)], said, policy=policy, event=event).outcome
        assert outcome.effect == ("gate" if preset in gates else "view")


@pytest.mark.parametrize("cause", get_args(FailureCause))
def test_sd_b2_sd_b11_a_closed_failure_blocks_and_none_is_ever_an_allow(
    cause: FailureCause,
) -> None:
    said: dict[str, Says] = {"a": Failed(cause)}
    assert sdk([hook("a", on_failure="closed")], said).outcome.decision == "deny"
    assert sdk([hook("a", on_failure="open")], said).outcome.decision == "none"
    assert run([handler("a", on_failure="open")], said).outcome.decision == "none"


def test_sd_b3_a_word_filter_leaves_other_words_alone() -> None:
    hooks = [hook("rm", CommandWord("rm"))]
    said: dict[str, Says] = {"rm": Block("no")}
    for harmless in ("npm run confirm", "ruff format"):
        assert sdk(hooks, said, started(harmless)).ran == ()
    assert sdk(hooks, said, started("cd x; rm -rf y")).ran == ("rm",)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("verdict", [Allow(), Block("no"), Abort("no"), Confirm("?"), Inject("x")])
def test_sd_b6_an_observer_in_front_disables_no_gate(preset: PresetName, verdict: Verdict) -> None:
    hooks = [hook("watching", role="observer", priority=0), hook("gate")]
    said: dict[str, Says] = {"watching": verdict, "gate": Block("no")}
    policy = PRESETS[preset]
    played = run(hooks, said, policy=policy, event=started())
    assert played.row("gate").verdict == "block"
    assert played.row("watching").ignored
    if policy.effect("tool.pre") == "gate":
        assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "gate")


def test_sd_b7_a_raised_error_is_a_failure_with_the_handlers_own_rule() -> None:
    raised: dict[str, Says] = {"a": Failed("crash", "ValueError: boom")}
    closed = run([handler("a")], raised, policy=CONSOLE).outcome
    assert (closed.decision, closed.reason) == ("deny", "a failed (crash): ValueError: boom")
    assert run([handler("a", role="observer")], raised).outcome.decision == "none"


def test_sd_b9_hiding_an_event_leaves_its_record_whole() -> None:
    event = started("secret")
    played = sdk([hook("a")], {"a": Modify({"command": "***"})}, event)
    assert played.outcome.input == {"command": "***"}
    tool = event.tool
    assert tool is not None
    assert tool.input == {"command": "secret"}


def test_sd_b10_gates_fail_closed_and_observers_open_unless_they_say_otherwise() -> None:
    timeout: dict[str, Says] = {"a": None}
    for role, decision in (("gate", "deny"), ("observer", "none"), ("sink", "none")):
        assert run([handler("a", role=role)], timeout).outcome.decision == decision
    assert run([handler("a", on_failure="open")], timeout).outcome.decision == "none"


def test_events_of_a_thread_have_no_command_and_match_no_command_filter() -> None:
    event = msgspec.structs.replace(other("turn.end"), native="turn.completed")
    played = sdk([handler("a", "turn.end")], {"a": Allow()}, event)
    assert played.ran == ("a",)
