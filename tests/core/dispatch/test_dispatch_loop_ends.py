"""How a dispatch ends: in time, with its gates, or because nobody waits any more."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import pytest

from tests.core.builders import START, pre
from tests.core.dispatching import Says, begun, handler, play, run
from watchgate.core.dispatch.dispatch_loop import CANCELLED, Dispatch, Invoke
from watchgate.core.dispatch.handler_bus import Bus
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import CONSOLE, PRESETS, PresetName
from watchgate.core.model.verdicts import (
    Abort,
    Allow,
    Block,
    Confirm,
    Defer,
    Inject,
    Modify,
    Report,
)

SDK_NATIVE = "item.started/command_execution"


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("count", [1, 3, 20, 70])
def test_core_8_the_total_deadline_holds_even_if_every_handler_hangs(
    count: int, preset: PresetName
) -> None:
    policy = PRESETS[preset]
    event = msgspec.structs.replace(pre(), native=SDK_NATIVE)
    handlers = [
        handler(f"h{n}", role=role, on_failure="open")
        for n, role in enumerate(["gate", "observer"] * count)
    ]
    handlers.append(handler("last", on_failure="closed"))
    played = run(handlers, {each.id: None for each in handlers}, policy=policy, event=event)
    assert 0 < played.took_s <= policy.total_timeout_s
    assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "last")
    assert [row.handler for row in played.trace] == [each.id for each in handlers]
    assert {row.status for row in played.trace} <= {"ran", "skipped"}


def test_core_8_what_is_left_when_the_time_is_used_up_is_not_even_started() -> None:
    handlers = [handler("slow", timeout_s=60, on_failure="open")]
    handlers += [handler("next", on_failure="open"), handler("strict")]
    played = run(handlers, {"slow": None})
    assert (played.ran, played.took_s) == (("slow",), CONSOLE.total_timeout_s)
    assert [row.why for row in played.trace] == [None, "deadline", "deadline"]
    assert (played.outcome.decision, played.outcome.decided_by) == ("deny", "strict")


def test_core_8_an_agent_that_waits_less_long_shortens_the_chain() -> None:
    dispatch = Bus(CONSOLE, [handler("a")]).start(pre(), START, limit_s=2.0)
    assert isinstance(dispatch, Dispatch)
    (call,) = dispatch.begin(START)
    assert call.deadline_s == dispatch.next_deadline() == START.mono_s + 2
    assert dispatch.expire(START.plus(1.9)) == []
    assert dispatch.outcome is None
    dispatch.expire(START.plus(2))
    assert dispatch.outcome is not None
    assert dispatch.outcome.reason == "a failed (timeout): no answer in 2 s"


@pytest.mark.parametrize("verdict", [Allow(), Defer(), Modify({}), Confirm("ask"), Inject("text")])
def test_core_8_what_comes_after_the_deadline_lets_nothing_through(verdict: Says) -> None:
    played = run([handler("a", timeout_s=5)], {"a": verdict}, took_s=5.1)
    assert (played.outcome.decision, played.outcome.failed) == ("deny", "timeout")


@pytest.mark.parametrize("verdict", [Block("no"), Abort("no")])
def test_core_8_a_late_denial_is_a_denial(verdict: Says) -> None:
    played = run([handler("a", on_failure="open", timeout_s=5)], {"a": verdict}, took_s=5.1)
    assert (played.outcome.decision, played.outcome.reason) == ("deny", "no")


@pytest.mark.parametrize("preset", PRESETS)
def test_core_9_a_cancelled_dispatch_ends_everybody_and_denies(preset: PresetName) -> None:
    event = msgspec.structs.replace(pre(), native=SDK_NATIVE)
    handlers = [handler("a"), handler("b"), handler("watching", role="observer")]
    dispatch = Bus(PRESETS[preset], handlers).start(event, START)
    assert isinstance(dispatch, Dispatch)
    dispatch.begin(START)
    assert {"a", "watching"} <= dispatch.running
    dispatch.cancel(START.plus(1))
    assert dispatch.over
    assert dispatch.outcome is not None
    assert (dispatch.outcome.decision, dispatch.outcome.reason) == ("deny", CANCELLED)
    assert dispatch.outcome.effect == PRESETS[preset].effect("tool.pre")
    assert [row.handler for row in dispatch.trace()] == ["a", "b", "watching"]
    assert {row.status for row in dispatch.trace()} <= {"ran", "skipped"}
    assert dispatch.feed("a", Report(verdict=Allow()), START.plus(2)) == []
    assert dispatch.outcome.decision == "deny"


def test_core_9_a_dispatch_that_never_began_is_cancelled_too() -> None:
    dispatch = begun([handler("a"), handler("b", role="observer")])
    dispatch.cancel(START)
    assert dispatch.outcome is not None
    assert [(row.status, row.why) for row in dispatch.outcome.trace] == [
        ("skipped", "after-stop"),
        ("skipped", "after-stop"),
    ]


def test_core_9_an_outcome_that_was_told_stands_when_observers_are_cancelled() -> None:
    dispatch = begun([handler("a"), handler("b", role="observer")])
    dispatch.begin(START)
    dispatch.feed("a", Report(verdict=Allow("fine")), START)
    outcome = dispatch.outcome
    dispatch.cancel(START)
    assert dispatch.outcome is outcome
    assert outcome is not None
    assert outcome.decision == "allow"


def test_observers_never_delay_the_outcome() -> None:
    dispatch = begun([handler("slow", role="observer"), handler("gate")])
    assert [call.handler.id for call in dispatch.begin(START)] == ["slow", "gate"]
    dispatch.feed("gate", Report(verdict=Allow()), START.plus(0.1))
    assert dispatch.outcome is not None
    assert not dispatch.over
    assert [row.status for row in dispatch.outcome.trace] == ["running", "ran"]
    dispatch.feed("slow", Report(verdict=Block("no")), START.plus(3))
    assert dispatch.over
    assert dispatch.outcome.decision == "allow"
    assert dispatch.trace()[0].duration_ms == 3000.0


def test_a_chain_of_observers_alone_has_its_outcome_at_once() -> None:
    dispatch = begun([handler("a", role="observer"), handler("b", role="sink")])
    assert len(dispatch.begin(START)) == 2
    assert dispatch.outcome is not None
    assert dispatch.outcome.decision == "none"


def test_a_hung_handler_is_skipped_after_three_timeouts_and_tried_again_later() -> None:
    bus = Bus(CONSOLE, [handler("hung", timeout_s=5)])
    for _ in range(3):
        assert play(bus, {"hung": None}).row("hung").verdict == "failed"
    skipped = play(bus, {"hung": None})
    assert (skipped.row("hung").why, skipped.took_s) == ("breaker", 0)
    assert (skipped.outcome.decision, skipped.outcome.failed) == ("deny", "timeout")
    assert "timeouts in a row" in skipped.row("hung").detail


def waits(handlers: Sequence[Handler]) -> list[Invoke]:
    return begun(handlers).begin(START)


def test_cw_b18_a_default_timeout_fills_only_what_is_missing() -> None:
    calls = waits([handler("own", timeout_s=1), handler("rest", role="observer")])
    assert {call.handler.id: call.deadline_s - START.mono_s for call in calls} == {
        "own": 1,
        "rest": CONSOLE.handler_timeout_s,
    }
