"""sandbox-agent's lifecycle lists and CodeWhale's hooks and sinks, on the one loop."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import msgspec
import pytest

from tests.core.builders import other, pre, shell
from tests.core.dispatching import Played, Says, handler, run
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.dispatch.presets import CODEWHALE_SINKS, CONSOLE, SANDBOX_LIFECYCLE
from watchgate.core.model.events import Body, Kind, Lane, Text
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Failed,
    Inject,
    Modify,
    Report,
    Verdict,
)

FAILED = [Failed("exit", "exit code 1"), Failed("spawn", "not found"), None]


def listed(said: dict[str, Says], kind: Kind = "prompt.submit", **go_on: bool | None) -> Played:
    hooks = [handler(key, kind, continue_on_failure=go_on.get(key)) for key in said]
    event = other(kind, Lane.GATE)
    return run(hooks, said, policy=SANDBOX_LIFECYCLE, event=event)


@pytest.mark.parametrize("kind", ["session.start", "session.end", "prompt.submit", "turn.end"])
def test_sa_4_hooks_of_one_kind_run_one_after_another(kind: Kind) -> None:
    played = listed({"b": Allow(), "a": Allow(), "c": Allow()}, kind)
    assert played.ran == ("b", "a", "c")
    assert played.outcome.decision == "allow"


@pytest.mark.parametrize("failed", FAILED)
def test_sa_5_a_failure_that_may_go_on_goes_on(failed: Says) -> None:
    for may in (None, True):
        played = listed({"a": failed, "b": Allow()}, a=may)
        assert played.ran == ("a", "b")
        assert (played.row("a").verdict, played.row("a").ignored) == ("failed", True)
        assert (played.outcome.decision, played.outcome.failed) == ("allow", None)


@pytest.mark.parametrize("failed", FAILED)
def test_sa_6_sa_b4_a_failure_that_may_not_go_on_ends_the_list_and_stops_the_message(
    failed: Says,
) -> None:
    played = listed({"a": Allow(), "b": failed, "c": Allow()}, b=False)
    assert played.ran == ("a", "b")
    assert played.row("c").why == "after-stop"
    outcome = played.outcome
    assert (outcome.decision, outcome.decided_by, outcome.effect) == ("deny", "b", "gate")


def test_sa_6_a_list_ends_at_such_a_failure_even_where_a_block_would_not_end_it() -> None:
    policy = msgspec.structs.replace(SANDBOX_LIFECYCLE, stop_on=frozenset())
    hooks = [
        handler("a", "prompt.submit", continue_on_failure=False),
        handler("b", "prompt.submit"),
    ]
    said: dict[str, Says] = {"a": Failed("exit"), "b": Allow()}
    played = run(hooks, said, policy=policy, event=other("prompt.submit", Lane.GATE))
    assert (played.ran, played.outcome.decision) == (("a",), "deny")


def test_sa_6_at_other_events_a_stopped_list_stops_nothing_and_says_so() -> None:
    played = listed({"a": Failed("exit"), "b": Allow()}, "session.end", a=False)
    assert (played.outcome.decision, played.outcome.effect) == ("deny", "view")


def test_sa_10_a_timeout_is_a_failure_that_names_its_seconds() -> None:
    row = listed({"a": None}).row("a")
    assert row.detail.endswith("timeout: no answer in 30 s")
    assert (row.duration_ms, row.run.exit_code) == (30_000, None)


def test_sa_b10_the_result_of_every_hook_is_in_the_trace() -> None:
    played = listed({"a": Failed("exit", "exit code 1"), "b": Allow()})
    assert [(row.handler, row.status, row.verdict) for row in played.trace] == [
        ("a", "ran", "failed"),
        ("b", "ran", "allow"),
    ]
    assert all(row.duration_ms is not None for row in played.trace)


def test_an_explicit_no_stops_a_message_too() -> None:
    assert listed({"a": Block("no"), "b": Allow()}).outcome.decision == "deny"


@pytest.mark.parametrize("broken", range(3))
def test_cw_6_a_failing_sink_takes_nothing_from_the_others(broken: int) -> None:
    sinks = [handler(f"s{n}", role="sink") for n in range(3)]
    said: dict[str, Says] = {each.id: Allow() for each in sinks}
    said[f"s{broken}"] = Failed("crash", "disk full")
    played = run(sinks, said, policy=CODEWHALE_SINKS)
    assert played.ran == ("s0", "s1", "s2")
    assert (played.outcome.decision, played.outcome.failed) == ("allow", None)


@pytest.mark.parametrize(
    "verdict", [Block("no"), Abort("no"), Confirm("?"), Modify({}), Inject("x")]
)
def test_a_sink_system_takes_no_word_from_anybody(verdict: Verdict) -> None:
    played = run([handler("a")], {"a": verdict}, policy=CODEWHALE_SINKS)
    assert (played.outcome.decision, played.outcome.effect) == ("allow", "view")
    assert played.outcome.input is None
    assert played.row("a").ignored


STRICT_FAILURE = Failed("exit", "exit code 1")
PRECEDENCE: list[tuple[Verdict, str]] = [
    (STRICT_FAILURE, "deny"),
    (Block("no"), "deny"),
    (Confirm("sure?"), "confirm"),
    (Allow(), "allow"),
]


@pytest.mark.parametrize("order", permutations(range(4)), ids=str)
@pytest.mark.parametrize("weakest", range(4))
def test_cw_23_deny_before_ask_before_allow_in_any_order(
    weakest: int, order: tuple[int, ...]
) -> None:
    heard = [PRECEDENCE[n] for n in order if n >= weakest]
    said: dict[str, Says] = {f"h{n}": verdict for n, (verdict, _) in enumerate(heard)}
    outcome = run([handler(key) for key in said], said, policy=CONSOLE).outcome
    assert outcome.decision == PRECEDENCE[weakest][1]


def test_cw_23_the_last_rewrite_counts_and_contexts_are_joined() -> None:
    said: dict[str, Says] = {
        "a": Report(verdict=Modify({"command": "1"}), text="first"),
        "b": Report(verdict=Allow(), text="second"),
        "c": Report(verdict=Modify({"command": "2"}), text="third"),
    }
    outcome = run([handler(key) for key in said], said, policy=CONSOLE).outcome
    assert outcome.input == {"command": "2"}
    assert outcome.injections == ("first", "second", "third")


@pytest.mark.parametrize("failed", FAILED)
def test_cw_24_strictness_is_that_of_the_hook_that_failed(failed: Says) -> None:
    said: dict[str, Says] = {"hook": failed, "other": Allow()}
    for strict, decision in ((False, "allow"), (True, "deny")):
        hooks = [
            handler("hook", continue_on_failure=not strict),
            handler("other", continue_on_failure=strict),
        ]
        assert run(hooks, said, policy=CONSOLE).outcome.decision == decision


def test_cw_24_on_failure_says_the_same_in_our_own_words() -> None:
    for rule, decision in (("open", "none"), ("closed", "deny")):
        hook = handler("a", on_failure=rule, continue_on_failure=rule == "closed")
        assert run([hook], {"a": Failed("exit")}).outcome.decision == decision


def test_cw_25_a_message_is_handed_from_hook_to_hook() -> None:
    event = other("prompt.submit", Lane.GATE)
    said: dict[str, Says] = {
        "a": Modify({"text": "one"}),
        "b": Modify({"text": "two"}),
        "c": Allow(),
    }
    seen: list[Body] = []

    def noting(waiting: Sequence[Invoke]) -> int:
        seen.append(waiting[0].event.body)
        return 0

    hooks = [handler(key, "prompt.submit") for key in said]
    played = run(hooks, said, event=event, ends_next=noting)
    assert seen == [Text("words"), Text("one"), Text("two")]
    assert played.outcome.input == {"text": "two"}


def test_cw_25_a_block_ends_the_chain_of_a_message() -> None:
    event = other("prompt.submit", Lane.GATE)
    said: dict[str, Says] = {"a": Modify({"text": "one"}), "b": Block("no"), "c": Allow()}
    played = run([handler(key, "prompt.submit") for key in said], said, event=event)
    assert (played.outcome.decision, played.outcome.input) == ("deny", None)
    assert played.row("c").why == "after-stop"


def test_a_rewrite_changes_what_the_next_hook_is_asked_about() -> None:
    said: dict[str, Says] = {
        "a": Modify({"command": "ls"}),
        "b": lambda found: Block("seen") if found == {"command": "ls"} else Allow(),
    }
    assert run([handler("a"), handler("b")], said, event=pre(shell("x"))).outcome.reason == "seen"
