"""What an agent asks a person, as rows of text: each question and its numbered choices."""

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
    """The rows of all questions at a width; `lead` is what was said before the first of them."""
    rows: list[Row] = list(wrap(pieces(lead), cells)) if lead else []
    for number, question in enumerate(questions, 1):
        count = f"{number} of {len(questions)}" if len(questions) > 1 else ""
        rows += question_rows(question, cells, count=count)
    return tuple(rows)


@remembered(maxsize=16)
def plan_rows(text: str, cells: int, *, air: bool) -> tuple[Row, ...]:
    """The rows of a plan, a line to each of its own; without `air` empty lines are left out."""
    rows = (_ended(row) for row in wrap(pieces(text.rstrip("\n")), cells, lines=True))
    return tuple(row for row in rows if row or air)


def _ended(row: Row) -> Row:
    """The row without the mark of its newline: it is the end of a line on the screen as well."""
    return row[:-1] if row and row[-1] == _NEWLINE else row


def question_rows(
    question: Question, cells: int, *, count: str = "", chosen: Sequence[str] = ()
) -> list[Row]:
    """The rows of one question; choices that are `chosen` are marked."""
    head = [Piece(f"{count}  ", "dim")] if count else []
    rows = list(wrap([*head, *pieces(question.text)], cells))
    labels = [width(choice.label) for choice in question.choices]
    column = min(LABEL_CELLS, max(labels, default=0))
    for number, choice in enumerate(question.choices, 1):
        rows += _choice(choice, number, column, cells, chosen=choice.label in chosen)
    return rows


def lead(data: RequestData) -> str:
    """What the agent says before its questions, where the first of them does not repeat it."""
    said = data.summary
    return "" if any(said == question.text for question in data.questions) else said


def _choice(choice: Choice, number: int, column: int, cells: int, *, chosen: bool) -> list[Row]:
    mark = Piece("> " if chosen else "  ", "accent")
    head = (mark, Piece(f"{number}".ljust(NUMBER_CELLS - 2), "accent"))
    told: list[Piece] = list(pieces(choice.label))
    if choice.description:
        gap = max(2, column + 2 - sum(width(piece.text) for piece in told))
        told += [Piece(" " * gap), *_inked(pieces(choice.description), "dim")]
    rows = wrap(told, max(8, cells - NUMBER_CELLS))
    indent = (Piece(" " * NUMBER_CELLS),)
    return [(*(head if at == 0 else indent), *row) for at, row in enumerate(rows)]


def _inked(parts: Sequence[Piece], ink: Token) -> list[Piece]:
    return [msgspec.structs.replace(each, ink=ink) for each in parts]
