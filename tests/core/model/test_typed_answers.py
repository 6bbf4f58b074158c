"""A person types numbers of choices, labels, or words of their own."""

from __future__ import annotations

import pytest

from watchgate.core.model.events import Choice, Question
from watchgate.core.model.questions import describe_choices, read_answer

ONE = Question("Which store?", choices=(Choice("A file"), Choice("A server")))
STRICT = Question("Which store?", choices=(Choice("A file"), Choice("A server")), free_text=False)
SEVERAL = Question("Which checks?", choices=(Choice("lint"), Choice("types")), multiple=True)
COUNT = Question("How many?", choices=(Choice("2"), Choice("4")))
NUMBER = Question("How many?", type="integer")
FREE = Question("Anything else?", required=False)


@pytest.mark.parametrize(
    ("question", "typed", "meant"),
    [
        (ONE, "2", ("A server",)),
        (ONE, " 1 ", ("A file",)),
        (ONE, "a SERVER", ("A server",)),
        (ONE, "neither, really", ("neither, really",)),
        (ONE, "=2", ("2",)),
        (SEVERAL, "1,2", ("lint", "types")),
        (SEVERAL, "types, 1", ("types", "lint")),
        (SEVERAL, "1, 1", ("lint",)),
        (SEVERAL, "1, and the spelling", ("lint", "and the spelling")),
        (SEVERAL, "none, thank you", ("none, thank you",)),
        (COUNT, "=2", ("2",)),
        (COUNT, "4", ("4",)),
        (NUMBER, "12", ("12",)),
        (FREE, "", ()),
        (FREE, "7", ("7",)),
    ],
)
def test_what_is_typed_means_choices_or_words(
    question: Question, typed: str, meant: tuple[str, ...]
) -> None:
    assert read_answer(question, typed) == meant


@pytest.mark.parametrize(
    ("question", "typed", "said"),
    [
        (ONE, "", "needs an answer"),
        (ONE, "3", "no choice 3, only 1 to 2; =3 means"),
        (ONE, "0", "no choice 0"),
        (STRICT, "a jar", "none of its choices"),
        (SEVERAL, "1, 3", "no choice 3"),
        (COUNT, "2", "the number of one choice and the words of another: =2"),
        (NUMBER, "many", "a whole number"),
        (FREE, "=", "cannot be empty"),
    ],
)
def test_what_could_mean_something_else_is_refused(
    question: Question, typed: str, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        read_answer(question, typed)


@pytest.mark.parametrize(
    ("question", "words"),
    [
        (ONE, "one of them, or words of your own"),
        (STRICT, "one of them"),
        (SEVERAL, "several, with commas, or words of your own"),
        (NUMBER, "a whole number"),
        (FREE, "words of your own; it may be left empty"),
    ],
)
def test_it_says_what_can_be_typed(question: Question, words: str) -> None:
    assert describe_choices(question) == words
