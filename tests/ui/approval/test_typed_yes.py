"""The typed word that allows a critical request."""

from __future__ import annotations

from watchgate.ui.approval.arming import TYPING, Ask, Commit, Explain
from watchgate.ui.approval.typed_yes import PromptClosed, TypedYes

ASK = Ask("yes", "allow", "r1", "type yes to allow it", 1500)


def typed(word: str, *, gap: float = 0.12) -> tuple[TypedYes, float]:
    """A prompt into which the word was typed, and the moment of its last letter."""
    prompt = TypedYes(ASK)
    at = 10.0
    for letter in word:
        at += gap
        prompt.key(letter, at)
    return prompt, at


def test_yes_allows_a_quarter_of_a_second_after_its_last_letter() -> None:
    prompt, at = typed("yes")
    assert prompt.typed == "yes"
    assert prompt.due(at + 0.24, "r1") is None
    assert prompt.due(at + 0.25, "r1") == Commit("allow", "r1", 1500, confirmed=True)


def test_it_decides_only_the_request_that_is_drawn() -> None:
    prompt, at = typed("yes")
    assert prompt.due(at + 0.3, "r2") == Explain("the request changed, nothing was decided")


def test_letters_faster_than_a_hand_are_refused() -> None:
    prompt, at = typed("yes", gap=0.02)
    assert prompt.typed == ""
    assert prompt.due(at + 1, "r1") is None


def test_a_paste_is_refused() -> None:
    prompt = TypedYes(ASK)
    assert prompt.paste(10.0) == Explain("a paste does not count, type yes by hand")
    assert prompt.key("y", 10.1) == Explain(TYPING)


def test_a_text_that_only_contains_the_word_is_refused() -> None:
    for text in ("yesterday", "eyes", "yes\n", "yyes"):
        prompt, at = typed(text)
        assert prompt.due(at + 0.25, "r1") is None, text


def test_a_slip_can_be_taken_back() -> None:
    prompt, at = typed("ye")
    prompt.key("backspace", at + 0.3)
    prompt.key("e", at + 0.6)
    prompt.key("s", at + 0.9)
    assert isinstance(prompt.due(at + 1.2, "r1"), Commit)


def test_d_alone_denies() -> None:
    prompt, at = typed("d")
    assert prompt.due(at + 0.25, "r1") == Commit("deny", "r1", 1500)


def test_d_within_a_word_does_not() -> None:
    for text in ("yed", "dd", "ddd", "do"):
        prompt, at = typed(text)
        assert prompt.due(at + 0.3, "r1") is None, text


def test_escape_leaves_and_takes_everything_back() -> None:
    prompt, at = typed("yes")
    assert prompt.key("escape", at + 0.1) == PromptClosed()
    assert prompt.due(at + 0.3, "r1") is None


def test_letters_right_after_the_terminal_got_the_focus_are_refused() -> None:
    prompt, at = typed("ye")
    prompt.focus(at + 0.1)
    assert prompt.typed == ""
    assert prompt.key("s", at + 0.5) == Explain(
        "not yet: this terminal has only just got the focus"
    )
    for number, letter in enumerate("yes"):
        prompt.key(letter, at + 1 + number)
    assert isinstance(prompt.due(at + 3.3, "r1"), Commit)


def test_the_terminal_that_gets_the_focus_takes_a_waiting_word_back() -> None:
    prompt, at = typed("yes")
    prompt.focus(at + 0.1)
    assert prompt.due(at + 0.3, "r1") is None


def test_the_key_that_denies_is_the_one_of_the_keymap() -> None:
    prompt = TypedYes(ASK, "F")
    assert prompt.key("d", 10.0) == Explain("only yes allows it; F denies, Esc leaves")
    prompt.key("F", 11.0)
    assert prompt.due(11.25, "r1") == Commit("deny", "r1", 1500)


def test_enter_never_decides() -> None:
    prompt, at = typed("yes")
    assert prompt.key("enter", at + 0.1) == Explain(TYPING)
    assert prompt.due(at + 0.4, "r1") is None


def test_a_stalled_loop_gives_the_keys_in_the_queue_their_turn_first() -> None:
    prompt, at = typed("yes")
    assert prompt.due(at + 3, "r1") is None
    assert prompt.key("t", at + 0.1) == Explain(TYPING)
