"""What counts as an answer: how many, which labels, own words, and values of a type."""

from __future__ import annotations

import pytest

from watchgate.core.model.events import Choice, Question
from watchgate.core.model.questions import LONGEST_ANSWER_CHARS, check_answers, value_of

COLOR = Question("Which colour?", choices=(Choice("Red"), Choice("Blue", value="#00f")))
STRICT = Question("Which one?", choices=(Choice("Red"), Choice("Blue")), free_text=False)
SEVERAL = Question("Which ones?", choices=(Choice("Red"), Choice("Blue")), multiple=True)
AGE = Question("How old?", type="integer")
SHARE = Question("Which share?", type="number")
SURE = Question("Sure?", type="boolean", choices=(Choice("yes", value="true"),), free_text=True)
MAYBE = Question("Anything else?", required=False)


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (COLOR, ("Red",)),
        (COLOR, ("something between",)),
        (STRICT, ("Blue",)),
        (SEVERAL, ("Red", "Blue")),
        (SEVERAL, ("Red", "and one of my own")),
        (AGE, ("12",)),
        (AGE, (" -3 ",)),
        (SHARE, ("0.5",)),
        (SHARE, ("1e3",)),
        (SURE, ("yes",)),
        (SURE, ("false",)),
        (MAYBE, ()),
    ],
)
def test_a_good_answer_has_no_fault(question: Question, given: tuple[str, ...]) -> None:
    assert check_answers([question], [given]) == ""


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        (COLOR, (), "needs an answer"),
        (COLOR, ("Red", "Blue"), "only one answer"),
        (COLOR, (" ",), "cannot be empty"),
        (COLOR, ("x" * (LONGEST_ANSWER_CHARS + 1),), "at most"),
        (STRICT, ("Green",), "none of its choices: Red, Blue"),
        (STRICT, ("red",), "none of its choices"),
        (SEVERAL, ("Red", "Red"), "twice"),
        (AGE, ("2.5",), "a whole number"),
        (AGE, ("twelve",), "a whole number"),
        (AGE, ("1_000",), "a whole number"),
        (AGE, ("٣",), "a whole number"),
        (SHARE, ("nan",), "a number"),
        (SHARE, ("inf",), "a number"),
        (SURE, ("perhaps",), "yes or no"),
    ],
)
def test_a_bad_answer_is_refused_with_its_reason(
    question: Question, given: tuple[str, ...], said: str
) -> None:
    assert said in check_answers([question], [given])


def test_every_question_needs_its_own_answer() -> None:
    assert check_answers([COLOR, AGE], [("Red",)]).endswith("is needed: 2, not 1")
    assert check_answers([COLOR], []).endswith("is needed: 1, not 0")


def test_among_several_questions_the_fault_names_the_one() -> None:
    assert check_answers([COLOR, AGE], [("Red",), ("old",)]).startswith("question 2: ")


@pytest.mark.parametrize(
    ("question", "words", "value"),
    [
        (COLOR, "Red", "Red"),
        (COLOR, "Blue", "#00f"),
        (COLOR, "green", "green"),
        (AGE, "12", 12),
        (SHARE, "0.5", 0.5),
        (SHARE, "2", 2.0),
        (SURE, "yes", True),
        (SURE, "no", False),
    ],
)
def test_an_answer_stands_for_the_value_that_the_agent_is_told(
    question: Question, words: str, value: object
) -> None:
    told = value_of(question, words)
    assert told == value
    assert type(told) is type(value)
