"""Typed answers to one question: numbers of choices, labels, or own words."""

from __future__ import annotations

from watchgate.core.events import Question
from watchgate.core.questions import check_answers

LITERALLY = "="
"""A text that begins so is meant as it is, although it looks like the number of a choice."""


def read_answer(question: Question, typed: str) -> tuple[str, ...]:
    """The labels and words that were meant; raises `ValueError`, whose text says how to mend it.

    A number is that of a choice, counted from 1; several are separated by commas. Nothing typed is
    no answer, which only a question takes that need not be answered.
    """
    typed = typed.strip()
    if typed.startswith(LITERALLY):
        answers: tuple[str, ...] = (typed.removeprefix(LITERALLY).strip(),)
    else:
        answers = _read(question, typed)
    fault = check_answers((question,), (answers,))
    if fault:
        raise ValueError(fault)
    return answers


def how(question: Question) -> str:
    """Describe in words what can be typed."""
    if not question.choices:
        kind = {"number": "a number", "integer": "a whole number", "boolean": "yes or no"}
        allowed = kind.get(question.type, "words of your own")
    else:
        allowed = "several, with commas" if question.multiple else "one of them"
        allowed += ", or words of your own" if question.free_text else ""
    return allowed if question.required else f"{allowed}; it may be left empty"


def _read(question: Question, typed: str) -> tuple[str, ...]:
    if not typed:
        return ()
    whole = _choice(question, typed)
    if whole is not None:
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
    there = 1 <= number <= len(labels)
    if words in labels and there and labels[number - 1] != words:
        raise ValueError(
            f"{words} is the number of one choice and the words of another: "
            f"{LITERALLY}{words} means the words"
        )
    if words in labels:
        return words
    if not there:
        raise ValueError(
            f"there is no choice {words}, only 1 to {len(labels)}; {LITERALLY}{words} means the "
            "words themselves"
        )
    return labels[number - 1]
