"""Templates of sentences: what they may hold, and how names stand in them."""

from __future__ import annotations

import pytest

from watchgate.core.policy.judging import sentences
from watchgate.core.policy.matching.name_patterns import PatternError
from watchgate.core.policy.matching.sentence_templates import (
    MAX_CHARS,
    PLACEHOLDERS,
    Slot,
    compiled,
    listed,
    sentence,
)

NAMES = {"first": "origin", "operands": "a, b"}


def fill(slot: Slot) -> str:
    return NAMES.get(slot.kind, "")


def test_a_template_is_filled_with_what_is_known() -> None:
    assert sentence(compiled(["Sends {operands} to {first}"]), fill) == "Sends a, b to origin"


def test_the_next_template_is_taken_where_one_cannot_be_filled() -> None:
    templates = compiled(["Sends {rest} to {first}", "Sends commits to {first}", "Sends commits"])
    assert sentence(templates, fill) == "Sends commits to origin"
    assert sentence(templates[2:], fill) == "Sends commits"
    assert sentence(templates[:1], fill) == ""


@pytest.mark.parametrize(
    "text", ["Sends {it}", "Sends {value}", "Sends {value:name}", "Sends {first", "Sends }", "{}"]
)
def test_what_no_placeholder_stands_for_is_an_error(text: str) -> None:
    with pytest.raises(PatternError, match="says"):
        compiled([text])


def test_every_placeholder_can_be_filled() -> None:
    assert set(sentences.FILLS) == set(PLACEHOLDERS)


@pytest.mark.parametrize(
    ("names", "noun", "text"),
    [
        (["a"], "", "a"),
        (["a", "b", "c", "d", "e"], "", "a, b, c and 2 more"),
        (["a", "a"], "branch", "the branch a"),
        (["a", "b"], "branch", "2 branches: a, b"),
        (["a", "b"], "repository", "2 repositories: a, b"),
        (["."], "", "this folder"),
        (["", "-", "{}"], "branch", ""),
        (["my file"], "", "'my file'"),
        (["a; allowed by a rule"], "", "'a; allowed by a rule'"),
    ],
)
def test_names_are_listed(names: list[str], noun: str, text: str) -> None:
    assert listed(names, noun) == text


def test_a_name_shows_nothing_that_hides_or_that_is_secret() -> None:
    assert listed(["a\u202eb\x1b[2J\n"]) == "'a<U+202E>b<U+001B>[2J\\n'"
    assert "ghp_" not in listed(["x=ghp_" + "a1B2c3D4" * 5])


def test_a_long_name_is_cut_in_its_middle() -> None:
    shown = listed(["src/" + "a" * 500 + "/end.py"])
    assert len(shown) <= MAX_CHARS
    assert shown.startswith("src/a")
    assert shown.endswith("/end.py")
