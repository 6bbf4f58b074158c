"""Valid answers to an agent's questions, and the value that a typed text stands for."""

from __future__ import annotations

import math
from collections.abc import Sequence

from watchgate.core.model.events import Question

Value = str | int | float | bool
Answers = Sequence[Sequence[str]]
"""One sequence of labels, or of words of one's own, per question and in the questions' order."""

LITERALLY = "="
"""A text that begins so is meant as it is, although it looks like the number of a choice."""

LONGEST_ANSWER_CHARS = 20_000
_YES_NO = {"true": True, "yes": True, "false": False, "no": False}
_KINDS = {
    "number": "a number, for example 2.5",
    "integer": "a whole number, for example 3",
    "boolean": "yes or no",
}


def check_answers(questions: Sequence[Question], answers: Answers) -> str:
    """Returns the reason these answers cannot be told to the agent, with the mend; or ""."""
    if len(answers) != len(questions):
        return f"one answer for each question is needed: {len(questions)}, not {len(answers)}"
    for number, (question, given) in enumerate(zip(questions, answers, strict=True), 1):
        if fault := _fault(question, given):
            return f"question {number}: {fault}" if len(questions) > 1 else fault
    return ""


def value_of(question: Question, words: str) -> Value:
    """Returns the value that the agent is told for one chosen label or typed text.

    A label stands for its choice's value; raises `ValueError` for words of the wrong type.
    """
    words = next((each.value or words for each in question.choices if each.label == words), words)
    if question.type == "string":
        return words
    try:
        return _typed(question.type, words.strip())
    except (KeyError, ValueError):
        raise ValueError(f"{words[:40]!r} is not {_KINDS[question.type]}") from None


def _typed(kind: str, words: str) -> Value:
    if kind == "boolean":
        return _YES_NO[words.lower()]
    number = int(words) if kind == "integer" else float(words)
    if not words.isascii() or "_" in words or not -math.inf < number < math.inf:
        raise ValueError(words)
    return number


def _fault(question: Question, given: Sequence[str]) -> str:
    if not given:
        return "it needs an answer" if question.required else ""
    if len(given) > 1 and not question.multiple:
        return f"only one answer can be given, not {len(given)}"
    if len(set(given)) != len(given):
        return "an answer is given twice"
    return next((fault for words in given if (fault := _fault_in(question, words))), "")


def _fault_in(question: Question, words: str) -> str:
    if not words.strip():
        return "an answer cannot be empty"
    if len(words) > LONGEST_ANSWER_CHARS:
        return f"an answer has at most {LONGEST_ANSWER_CHARS} characters, this one {len(words)}"
    labels = [choice.label for choice in question.choices]
    if words not in labels and not question.free_text:
        return f"{words[:40]!r} is none of its choices: {', '.join(labels)}"
    try:
        value_of(question, words)
    except ValueError as error:
        return str(error)
    return ""


def read_answer(question: Question, typed: str) -> tuple[str, ...]:
    """The labels and words that were meant; raises `ValueError`, whose text says how to mend it.

    A number is that of a choice, counted from 1; several are separated by commas.
    """
    answers = _read(question, typed.strip())
    if fault := check_answers((question,), (answers,)):
        raise ValueError(fault)
    return answers


def describe_choices(question: Question) -> str:
    """Describes in words what can be typed."""
    if question.choices:
        allowed = "several, with commas" if question.multiple else "one of them"
        allowed += ", or words of your own" if question.free_text else ""
    else:
        allowed = _KINDS.get(question.type, "words of your own").partition(",")[0]
    return allowed if question.required else f"{allowed}; it may be left empty"


def _read(question: Question, typed: str) -> tuple[str, ...]:
    if not typed:
        return ()
    if typed.startswith(LITERALLY):
        return (typed.removeprefix(LITERALLY).strip(),)
    if (whole := _choice(question, typed)) is not None:
        return (whole,)
    if not question.multiple:
        return (typed,)
    parts = [part for each in typed.split(",") if (part := each.strip())]
    chosen = [_choice(question, part) for part in parts]
    if not any(chosen):
        return (typed,)
    return tuple(dict.fromkeys(label or part for label, part in zip(chosen, parts, strict=True)))


def _choice(question: Question, words: str) -> str | None:
    """The choice that was meant by its number or label, if one was."""
    labels = [choice.label for choice in question.choices]
    if labels and words.isascii() and words.isdigit():
        return _numbered(labels, words)
    if words in labels:
        return words
    alike = [label for label in labels if label.casefold() == words.casefold()]
    return alike[0] if len(alike) == 1 else None


def _numbered(labels: list[str], words: str) -> str:
    number = int(words)
    meant = {*labels[number - 1 : number], *(label for label in labels if label == words)}
    plain = f"{LITERALLY}{words} means the words"
    if len(meant) > 1:
        raise ValueError(f"{words} is the number of one choice and the words of another: {plain}")
    if not meant:
        raise ValueError(f"there is no choice {words}, only 1 to {len(labels)}; {plain} themselves")
    return meant.pop()
