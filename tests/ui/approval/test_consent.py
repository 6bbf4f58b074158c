"""The deciding keys of a prompt: armed by what it draws, one key, two keys, or a typed yes."""

from __future__ import annotations

from watchgate.ui.approval.arming import TYPING, Card, Commit, Explain, HeldKey, Intent, Pass
from watchgate.ui.approval.consent import Consent

KEYS: dict[str, Intent] = {"a": "allow", "d": "deny"}


def shown(risk: str = "medium", *, name: str = "r1 digest", complete: bool = True) -> Consent:
    """A prompt that shows something of this risk since the clock's second 10."""
    consent = Consent(KEYS)
    consent.drawn(Card(id=name, risk=risk, complete=complete), 10.0)
    return consent


def pressed(consent: Consent, name: str, at: float) -> Commit | Explain | None:
    """What a key does that nothing follows."""
    assert consent.key(name, at) == HeldKey()
    return consent.due(at + 0.26)


def test_a_medium_one_is_allowed_by_one_key() -> None:
    assert pressed(shown(), "a", 11.0) == Commit("allow", "r1 digest", 1000)


def test_what_was_only_just_drawn_is_not_allowed() -> None:
    assert pressed(shown(), "a", 10.4) == Explain("not yet: this choice has only just appeared")


def test_what_was_not_shown_to_its_end_is_not_allowed() -> None:
    answer = pressed(shown(complete=False), "a", 11.0)
    assert isinstance(answer, Explain)
    assert "not all of it" in answer.text


def test_a_high_one_wants_the_same_key_again() -> None:
    consent = shown("high")
    assert pressed(consent, "a", 11.0) == Explain("a again allows it")
    assert pressed(consent, "a", 12.0) == Commit("allow", "r1 digest", 2000, confirmed=True)


def test_a_critical_one_wants_a_typed_yes() -> None:
    consent = shown("critical")
    assert pressed(consent, "a", 11.0) == Explain("type yes to allow it")
    for at, letter in ((12.0, "y"), (12.1, "e"), (12.2, "s")):
        assert consent.key(letter, at) == HeldKey()
    assert consent.typed == "yes"
    assert consent.due(12.46) == Commit("allow", "r1 digest", 1000, confirmed=True)


def test_a_typed_yes_does_not_reach_what_is_drawn_in_its_place() -> None:
    consent = shown("critical")
    pressed(consent, "a", 11.0)
    for at, letter in ((12.0, "y"), (12.1, "e"), (12.2, "s")):
        consent.key(letter, at)
    consent.drawn(Card(id="r1 other", risk="critical", complete=True), 12.3)
    assert consent.typed is None
    assert consent.due(12.46) is None


def test_escape_leaves_the_typed_yes_and_nothing_was_decided() -> None:
    consent = shown("critical")
    pressed(consent, "a", 11.0)
    assert consent.key("escape", 12.0) == Explain("nothing was decided")
    assert consent.typed is None


def test_keys_that_follow_each_other_quickly_are_typing() -> None:
    consent = shown()
    consent.key("a", 11.0)
    assert consent.key("d", 11.1) == Explain(TYPING)
    assert consent.due(11.5) is None


def test_a_key_right_after_the_focus_came_is_not_an_allow() -> None:
    consent = shown()
    consent.focus(11.0)
    answer = pressed(consent, "a", 11.2)
    assert isinstance(answer, Explain)
    assert "focus" in answer.text


def test_any_other_key_is_the_prompts_own() -> None:
    assert shown().key("e", 11.0) == Pass()


def test_a_paste_is_no_key() -> None:
    consent = shown()
    consent.key("a", 11.0)
    assert consent.paste(11.1) == Explain(TYPING)
    assert consent.due(11.5) is None
