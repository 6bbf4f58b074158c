"""Silence and keys are described by what they will really do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.requests import NOW, data
from watchgate.ui import consequences
from watchgate.ui.consequences import after_allow, allow_label, handback_label, silence


@pytest.mark.parametrize(
    ("facts", "agent", "words"),
    [
        ({}, "claude", "denied in 0:23"),
        ({"lane": "relay", "silence": "handback"}, "claude", "Claude asks by itself in 0:23"),
        ({"lane": "gate-read", "silence": "handback"}, "codex", "handed back in 0:23"),
        ({"silence": "handback", "runs_unasked": True}, "codex", "Codex runs it in 0:23"),
    ],
)
def test_silence(facts: dict[str, Any], agent: str, words: str) -> None:
    request = data(**facts)
    assert silence(request, agent, consequences.seconds_left(request, NOW)) == words


def test_silence_without_a_deadline_names_no_time() -> None:
    open_end = data(deadline_at=0)
    assert consequences.seconds_left(open_end, NOW) is None
    assert silence(open_end, "claude", None) == "held until somebody decides"
    relay = data(deadline_at=0, lane="relay", silence="handback")
    assert silence(relay, "claude", None) == "Claude asks as well"


def test_what_is_over_stays_at_zero() -> None:
    late = data()
    left = consequences.seconds_left(late, NOW + 60_000_000)
    assert silence(late, "claude", left) == "denied in 0:00"


@pytest.mark.parametrize(
    ("risk", "label"),
    [
        ("low", "allow"),
        ("medium", "allow"),
        ("high", "allow, twice"),
        ("unknown", "allow, twice"),
        ("critical", "allow, type yes"),
    ],
)
def test_the_allow_key_says_how_often_it_wants_to_be_pressed(risk: str, label: str) -> None:
    assert allow_label(data(risk=risk)) == label


def test_an_armed_handback_says_that_the_call_runs() -> None:
    assert handback_label(data(), "claude") == "hand back"
    armed = data(risk="high", runs_unasked=True)
    assert handback_label(armed, "claude") == "hand back: Claude runs it, twice"


def test_an_agent_that_takes_no_allow_will_still_ask() -> None:
    assert after_allow(data(asks_again=True), "codex") == (
        "Codex will still ask in its own terminal"
    )
    assert after_allow(data(), "claude") == "Claude runs it at once, nothing else asks"


def test_what_the_model_is_told_after_silence() -> None:
    assert consequences.after_silence(data(), "claude") == "Claude is told nobody answered"
    relay = data(silence="handback")
    assert consequences.after_silence(relay, "codex") == "Codex asks in its own terminal"


def test_keys_for_what_is_not_offered_say_why() -> None:
    reasons = consequences.blocked(data(offered=("deny",)), "gemini")
    assert reasons["allow"] == "Gemini takes no allow for this"
    assert reasons["handback"] == "Gemini has no prompt of its own for this"
    assert "deny" not in reasons
    assert reasons["deny_stop"] == "Gemini cannot be told to end its turn: d denies, r says why"
    every = ("allow", "deny", "handback", "stop")
    assert consequences.blocked(data(offered=every, scopes=("once", "turn")), "claude") == {}


def test_a_denial_that_ends_the_turn_is_a_denial_first() -> None:
    reasons = consequences.blocked(data(offered=("handback", "stop")), "codex")
    assert reasons["deny_stop"] == reasons["deny"] == "Codex takes no denial here"


def test_an_unknown_agent_keeps_its_name_made_safe() -> None:
    assert consequences.title("my\x1b[2Jagent") == "my<U+001B>[2Jagent"
