"""Silence and keys are described by what they will really do."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ui.requests import NOW, data
from watchgate.core.model.events import Conduct, OwnRules
from watchgate.core.model.records import Asks
from watchgate.ui.approval import consequences
from watchgate.ui.approval.consequences import (
    after_allow,
    allow_label,
    handback_label,
    silence,
    why_so_long,
)
from watchgate.ui.source.agent_titles import title


@pytest.mark.parametrize(
    ("facts", "agent", "words"),
    [
        ({}, "claude", "denied in 0:23"),
        ({"lane": "relay", "silence": "handback"}, "codex", "Codex asks by itself in 0:23"),
        (
            {"lane": "relay", "silence": "handback", "races": True},
            "claude",
            "handed back in 0:23",
        ),
        ({"lane": "gate-read", "silence": "handback"}, "codex", "handed back in 0:23"),
        (
            {"silence": "handback", "runs_unasked": True, "mode": "yolo"},
            "codex",
            "Codex runs it in 0:23",
        ),
        ({"silence": "handback", "runs_unasked": True}, "gemini", "Gemini may run it in 0:23"),
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
    armed = data(risk="high", runs_unasked=True, mode="yolo")
    assert handback_label(armed, "claude") == "hand back: Claude runs it, twice"


@pytest.mark.parametrize(
    ("conduct", "words"),
    [
        ("runs", "Codex runs it at once, nothing else asks"),
        ("confined", "Codex runs it, in its sandbox if any"),
        ("asks", "Codex will still ask in its own terminal"),
        ("runs-or-asks", "Codex may run it, or ask by its own rules"),
        ("runs-or-refuses", "Codex may run it, or refuse it: it asks nobody when headless"),
        ("refuses", "Codex refuses it by its own rules"),
    ],
)
def test_the_card_promises_what_the_agent_does_after_an_allow(conduct: Conduct, words: str) -> None:
    request = data(own_rules=OwnRules(allowed=conduct))
    assert after_allow(request, "codex") == words
    assert consequences.note(request, "codex") == ("" if conduct == "runs" else words)


def test_a_record_of_an_earlier_version_promises_no_more_than_it_did() -> None:
    said = after_allow(data(asks_again=True), "codex")
    assert said == "Codex may run it, or ask by its own rules"


def test_what_a_handback_does_is_said_only_as_far_as_it_is_known() -> None:
    """Gemini, Copilot and OpenCode do not tell whether they are in a mode that asks."""
    unknown = data(runs_unasked=True)
    may = "handed back, Copilot may run it, or ask by its own rules"
    assert consequences.note(unknown, "copilot") == may
    assert handback_label(unknown, "copilot").startswith("hand back: Copilot may run it")
    assert consequences.after_handback(unknown, "copilot") == "Copilot may run it without asking"


def test_where_an_allow_only_hands_back_both_keys_are_said_to_do_the_same() -> None:
    same = data(runs_unasked=True, own_rules=OwnRules("runs-or-asks", "runs-or-asks"))
    assert consequences.note(same, "gemini") == (
        "allowed or handed back, Gemini may run it, or ask by its own rules"
    )


def test_a_mode_that_is_told_does_not_make_a_handback_certain() -> None:
    """Codex asks only to leave its sandbox, and the mode does not say whether it has to."""
    unsure = data(runs_unasked=True, mode="default", own_rules=OwnRules("runs", "runs-or-asks"))
    assert consequences.note(unsure, "codex") == (
        "handed back, Codex in default mode may run it, or ask by its own rules"
    )
    assert handback_label(unsure, "codex").startswith("hand back: Codex may run it")


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
    every = ("allow", "deny", "handback", "stop", "edit")
    assert consequences.blocked(data(offered=every, scopes=("once", "turn")), "claude") == {}


def test_a_denial_that_ends_the_turn_is_a_denial_first() -> None:
    reasons = consequences.blocked(data(offered=("handback", "stop")), "codex")
    assert reasons["deny_stop"] == reasons["deny"] == "Codex takes no denial here"


def test_an_unknown_agent_keeps_its_name_made_safe() -> None:
    assert title("my\x1b[2Jagent") == "my<U+001B>[2Jagent"


@pytest.mark.parametrize(
    ("asks", "offered", "label", "leads_to"),
    [
        ("question", ("answer", "deny", "handback"), "answer", "told your answer"),
        ("plan", ("allow", "deny", "handback"), "approve", "carries the plan out"),
    ],
)
def test_what_is_asked_has_consequences_of_its_own(
    asks: Asks, offered: tuple[str, ...], label: str, leads_to: str
) -> None:
    asked = data(asks=asks, offered=offered, risk="low", lane="relay")
    assert consequences.allow_label(asked) == label
    assert consequences.handback_label(asked, "claude") == "hand back: Claude asks"
    assert leads_to in consequences.after_allow(asked, "claude")
    assert consequences.note(asked, "claude") == ""
    assert "allow" not in consequences.blocked(asked, "claude")


def test_an_agent_whose_own_dialog_is_open_already_does_not_begin_to_ask() -> None:
    racing = data(lane="relay", silence="handback", races=True)
    words = consequences.silence(racing, "claude", 83.0, whole=True)
    assert words == "Claude asks as well; handed back in 1:23"
    said = consequences.after_silence(racing, "claude")
    assert said == "Claude goes on asking in its own dialog"
    denied = data(lane="relay", silence="deny", races=True)
    assert consequences.silence(denied, "claude", 83.0, whole=True) == "denied in 1:23"


def test_a_wait_that_is_longer_as_nobody_was_there_says_so() -> None:
    words = "60:00 in all, as no console that may allow was attached when it came"
    assert why_so_long(data(unattended=True, timeout_s=3600.0)) == words
    assert why_so_long(data(timeout_s=300.0)) == ""
    assert why_so_long(data(unattended=True, timeout_s=3600.0, silence="handback")) == ""
