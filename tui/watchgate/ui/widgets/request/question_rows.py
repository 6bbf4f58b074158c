"""The text of a request as rows: commands, questions and plans, wrapped, marked, nothing hidden."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from watchgate.core.events import Choice, Question
from watchgate.core.records import RequestData
from watchgate.ui.formats import width
from watchgate.ui.theming.ascii_only import remembered
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.request.command_text import Piece, Row, pieces, wrap

LABEL_CELLS = 24
NUMBER_CELLS = 4
_NEWLINE = Piece("\\n", "dim")


@remembered(maxsize=16)
def asked_rows(questions: tuple[Question, ...], cells: int, lead: str = "") -> tuple[Row, ...]:
    """Wraps all questions into rows at a width, after their `lead`."""
    rows: list[Row] = list(wrap(pieces(lead), cells)) if lead else []
    for number, question in enumerate(questions, 1):
        count = f"{number} of {len(questions)}" if len(questions) > 1 else ""
        rows += question_rows(question, cells, count=count)
    return tuple(rows)


@remembered(maxsize=16)
def plan_rows(text: str, cells: int, *, air: bool) -> tuple[Row, ...]:
    """Wraps a plan into rows, a line to each of its own; without `air` no empty ones."""
    rows = (_ended(row) for row in wrap(pieces(text.rstrip("\n")), cells, lines=True))
    return tuple(row for row in rows if row or air)


def _ended(row: Row) -> Row:
    """Returns the row without the mark of its newline, which is the end of a line here as well."""
    return row[:-1] if row and row[-1] == _NEWLINE else row


def question_rows(
    question: Question, cells: int, *, count: str = "", chosen: Sequence[str] = ()
) -> list[Row]:
    """Wraps one question into rows; choices that are `chosen` are marked."""
    head = [Piece(f"{count}  ", "dim")] if count else []
    rows = list(wrap([*head, *pieces(question.text)], cells))
    labels = [width(choice.label) for choice in question.choices]
    column = min(LABEL_CELLS, max(labels, default=0))
    for number, choice in enumerate(question.choices, 1):
        rows += _choice(choice, number, column, cells, chosen=choice.label in chosen)
    return rows


def lead(data: RequestData) -> str:
    """Returns the agent's words before its questions, where the first does not repeat them."""
    summary = data.summary
    return "" if any(summary == question.text for question in data.questions) else summary


def _choice(choice: Choice, number: int, column: int, cells: int, *, chosen: bool) -> list[Row]:
    """Wraps one choice into rows.

    Args:
        choice: The choice.
        number: Its number, from 1.
        column: Cells of the widest label.
        cells: Width of the rows.
        chosen: Whether it is marked.
    """
    mark = Piece("> " if chosen else "  ", "accent")
    head = (mark, Piece(f"{number}".ljust(NUMBER_CELLS - 2), "accent"))
    words: list[Piece] = list(pieces(choice.label))
    if choice.description:
        gap = max(2, column + 2 - sum(width(piece.text) for piece in words))
        words += [Piece(" " * gap), *_inked(pieces(choice.description), "dim")]
    rows = wrap(words, max(8, cells - NUMBER_CELLS))
    indent = (Piece(" " * NUMBER_CELLS),)
    return [(*(head if at == 0 else indent), *row) for at, row in enumerate(rows)]


def _inked(parts: Sequence[Piece], ink: Token) -> list[Piece]:
    return [msgspec.structs.replace(each, ink=ink) for each in parts]
