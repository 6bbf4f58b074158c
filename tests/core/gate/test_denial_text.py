from __future__ import annotations

from typing import get_args

import pytest

from watchgate.core.gate.denial_text import denial
from watchgate.core.model.records import Word

DENIED: list[Word] = [word for word in get_args(Word) if word.startswith("denied")]


def test_an_operators_own_words_are_passed_on() -> None:
    said = denial("denied-by-operator", request="a41fxyz", reason="use the other branch")
    assert said == "An operator denied this call: use the other branch"


def test_without_words_the_model_is_told_to_stop_and_ask() -> None:
    said = denial("denied-by-operator", request="a41fxyz")
    assert said == (
        "An operator denied this call. Do not try another way; stop and report #a41f,"
        " or ask what to do instead."
    )


def test_silence_says_how_long_and_that_no_person_refused() -> None:
    said = denial("denied-by-timeout", request="a41fxyz", waited_s=300.2)
    assert said == (
        "Nobody answered in 300 s. This is not a refusal by a person."
        " Do not try another way; stop and report #a41f."
    )


def test_a_timeout_with_a_cause_of_its_own_does_not_claim_silence() -> None:
    said = denial("denied-by-timeout", reason="The disk was slow", waited_s=300)
    assert said.startswith("The disk was slow. This is not a refusal by a person.")


@pytest.mark.parametrize("word", DENIED)
def test_only_a_person_and_a_rule_refuse(word: Word) -> None:
    said = denial(word, request="a41fxyz")
    refuses = word in ("denied-by-operator", "denied-by-rule", "denied-paused")
    assert ("not a refusal by a person" in said) is not refuses
    assert "\n" not in said
    assert "Do not try another way" in said


def test_a_rules_denial_tells_a_safer_way_and_to_try_no_other() -> None:
    said = denial("denied-by-rule", reason="Rewrites history.", safer="push to a branch.")
    assert said == (
        "A rule denied this call: Rewrites history. Safer: push to a branch."
        " Do not try another way than that; if it does not do, stop and report."
    )


def test_every_cause_has_its_own_text() -> None:
    assert len({denial(word, reason="why") for word in DENIED}) == len(DENIED)


def test_a_cause_is_followed_by_its_detail() -> None:
    said = denial("denied-no-journal", reason="no space left")
    assert "cannot write its journal" in said
    assert "(no space left)" in said
