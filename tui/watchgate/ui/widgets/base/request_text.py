"""The text of a request as rows: commands, questions and plans, wrapped, marked, nothing hidden."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import get_args

import msgspec
from rich.cells import cell_len, get_character_cell_size

from watchgate.core.model.assessment import Finding, Risk
from watchgate.core.model.events import Choice, Question
from watchgate.core.model.records import RequestData
from watchgate.ui.base.ascii_only import remembered
from watchgate.ui.base.formats import DOTS, cut, width
from watchgate.ui.base.theme import RISK_RANK, RISK_TOKEN, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.text_masking import (
    COVERED,
    MaskedSpan,
    MaskedText,
    Masking,
    mask_text,
)


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A stretch of text in one style; the text is safe to show."""

    text: str
    ink: Token = "fg"
    marked: bool = False
    hidden: bool = False

    def onto(self, line: StyledLine, *, underline: bool = True) -> None:
        """Adds it to a line: marks are bold and underlined, invisible characters reversed."""
        line.add(
            self.text,
            self.ink,
            bold=self.marked,
            underline=self.marked and underline,
            reverse=self.hidden,
        )


Row = tuple[Piece, ...]
_RISKS: tuple[Risk, ...] = get_args(Risk)


@remembered(maxsize=16)
def lay_out(
    text: str,
    findings: tuple[Finding, ...],
    cells: int,
    *,
    lines: bool = False,
    masking: Masking = COVERED,
) -> tuple[Row, ...]:
    r"""Wraps the text into rows at a width.

    With `lines` a row also ends at each newline of the text; else newlines stay inside as `\n`.

    Args:
        text: The text.
        findings: Findings whose spans are marked.
        cells: Width of the rows.
        lines: Whether a row also ends at each newline.
        masking: Which parts of the text are masked.
    """
    return wrap(marked(mask_text(text, masking), findings), cells, lines=lines)


def pieces(text: str) -> tuple[Piece, ...]:
    """Returns a text without findings as pieces that hide nothing and show no secret."""
    return tuple(marked(mask_text(text), ()))


def plain(text: str, cells: int, masking: Masking = COVERED) -> tuple[Row, ...]:
    """Wraps a text without findings into rows; the rows are not cached."""
    return wrap(marked(mask_text(text, masking), ()), cells)


def wrap(pieces: Iterable[Piece], cells: int, *, lines: bool = False) -> tuple[Row, ...]:
    """Breaks pieces into rows, at blanks where that is possible."""
    rows: list[Row] = []
    row: list[Piece] = []
    room = cells
    for piece in pieces:
        rest = piece.text
        while rest:
            taken, fresh = _take(rest, room, cells)
            if taken:
                row.append(msgspec.structs.replace(piece, text=rest[:taken]))
                room -= cell_len(rest[:taken])
                rest = rest[taken:]
            if fresh or room <= 0:
                rows.append(tuple(row))
                row, room = [], cells
        if lines and piece.ink == "dim" and piece.text == "\\n":
            rows.append(tuple(row))
            row, room = [], cells
    if row or not rows:
        rows.append(tuple(row))
    return tuple(rows)


def row_cells(row: Row) -> int:
    """Returns the cells that a row takes."""
    return sum(cell_len(piece.text) for piece in row)


def draw_row(line: StyledLine, row: Row, cells: int, *, underline: bool = True) -> None:
    """Adds a row to a line, cut to `cells` with dots in dim when it is longer."""
    if row_cells(row) <= cells:
        for piece in row:
            piece.onto(line, underline=underline)
        return
    room = cells - len(DOTS)
    for piece in row:
        width = cell_len(piece.text)
        if width > room:
            head = cut(piece.text + DOTS, room + len(DOTS))[0]
            if head:
                msgspec.structs.replace(piece, text=head).onto(line, underline=underline)
            break
        piece.onto(line, underline=underline)
        room -= width
    line.add(DOTS, "dim")


def _take(text: str, room: int, cells: int) -> tuple[int, bool]:
    """Returns the number of characters for this row, and whether it is full after them."""
    head = text[: 4 * room + 8]
    if cell_len(head) <= room:
        return len(head), False
    fits = room if head.isascii() else _fitting(head, room)
    blank = head.rfind(" ", 0, fits)
    if blank >= 0:
        return blank + 1, True
    word = head.partition(" ")[0]
    if room < cells and cell_len(word) <= cells:
        return 0, True
    return max(fits, 1 if room >= cells else 0), True


def _fitting(text: str, room: int) -> int:
    for taken, char in enumerate(text):
        room -= get_character_cell_size(char)
        if room < 0:
            return taken
    return len(text)


def marked(shown: MaskedText, findings: tuple[Finding, ...]) -> Iterator[Piece]:
    """Yields the pieces of a text, each span in the colour of its own finding."""
    edges, risks = _steps(findings)
    text, done = shown.source, 0
    for each in (*shown.stretches, MaskedSpan(len(text), len(text), "", "hidden")):
        inner = edges[bisect_right(edges, done) : bisect_left(edges, each.start)]
        for a, b in pairwise([done, *inner, each.start]):
            if a < b:
                risk = risks[bisect_right(edges, a)]
                yield Piece(text[a:b], RISK_TOKEN[risk] if risk else "fg", bool(risk))
        if each.text:
            over = risks[bisect_right(edges, each.start) : bisect_left(edges, each.end) + 1]
            yield _atom(each, max(over, key=_rank))
        done = each.end


def _steps(findings: tuple[Finding, ...]) -> tuple[list[int], list[Risk | None]]:
    """Returns the edges of marks, and the worst mark before the first edge, after it, ..."""
    turns = sorted(
        (position, change, _rank(finding.risk), finding.risk)
        for finding in findings
        if finding.span and finding.span[0] < finding.span[1]
        for position, change in zip(finding.span, (1, -1), strict=True)
    )
    edges: list[int] = []
    risks: list[Risk | None] = [None]
    open_ = dict.fromkeys(RISK_RANK, 0)
    for position, change, _, risk in turns:
        open_[risk] += change
        if not edges or edges[-1] != position:
            edges.append(position)
            risks.append(None)
        risks[-1] = max((each for each in _RISKS if open_[each]), key=_rank, default=None)
    return edges, risks


def _rank(risk: Risk | None) -> int:
    return -1 if risk is None else RISK_RANK[risk]


def _atom(each: MaskedSpan, risk: Risk | None) -> Piece:
    if each.kind == "break":
        return Piece(each.text, "dim")
    if each.kind == "secret":
        return Piece(each.text, RISK_TOKEN[risk] if risk else "dim", bool(risk))
    return Piece(each.text, RISK_TOKEN[risk] if risk else "fg", bool(risk), hidden=True)


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
