"""What would run, drawn so that nothing in it hides: marks, visible escapes, wrapped lines."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import pairwise

import msgspec
from rich.cells import cell_len, get_character_cell_size

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.policy.assessment import Finding, Risk
from watchgate.core.text import visible
from watchgate.ui.formats import DOTS, cut
from watchgate.ui.palettes import Token
from watchgate.ui.theme import RISK_RANK, RISK_TOKEN
from watchgate.ui.widgets.pane import Line

_BLANKS = re.compile(" {9,}")


class Piece(msgspec.Struct, frozen=True, gc=False):
    """A stretch of text in one style; the text is safe to show."""

    text: str
    ink: Token = "fg"
    marked: bool = False
    hidden: bool = False

    def onto(self, line: Line, *, underline: bool = True) -> None:
        """Add it to a line: marks are bold and underlined, what nobody could see is reversed."""
        line.add(
            self.text,
            self.ink,
            bold=self.marked,
            underline=self.marked and underline,
            reverse=self.hidden,
        )


Row = tuple[Piece, ...]


NO_PLAN = "The agent sent no text with this plan: read it in the agent's own terminal"


def shown_text(tool: Tool, summary: str) -> str:
    """The text that findings point into: a shell call's command, a plan, else the summary."""
    if tool.cls == "plan":
        plan = tool.input.get("plan")
        if isinstance(plan, str) and plan.strip():
            return plan
        return NO_PLAN if summary == tool.name else summary
    command = tool_input.command(tool) if tool.cls == "shell" else None
    return summary if command is None else command


@lru_cache(maxsize=16)
def lay_out(
    text: str, findings: tuple[Finding, ...], cells: int, *, lines: bool = False
) -> tuple[Row, ...]:
    r"""The rows that the text takes at a width.

    With `lines` a row also ends at each newline of the text; else newlines stay inside as `\n`.
    """
    return wrap(_pieces(text, findings), cells, lines=lines)


def pieces(text: str) -> tuple[Piece, ...]:
    """A text without findings, as pieces that hide nothing."""
    return tuple(_pieces(text, ()))


def plain(text: str, cells: int) -> tuple[Row, ...]:
    """The rows of a text without findings, not kept for another time."""
    return wrap(_pieces(text, ()), cells)


def wrap(pieces: Iterable[Piece], cells: int, *, lines: bool = False) -> tuple[Row, ...]:
    """Break pieces into rows, at blanks where that is possible."""
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
    """The cells that a row takes."""
    return sum(cell_len(piece.text) for piece in row)


def draw_row(line: Line, row: Row, cells: int) -> None:
    """Add a row to a line, cut to `cells` with dots in dim when it is longer."""
    if row_cells(row) <= cells:
        for piece in row:
            piece.onto(line)
        return
    room = cells - len(DOTS)
    for piece in row:
        width = cell_len(piece.text)
        if width > room:
            kept = cut(piece.text, room + len(DOTS))[0]
            msgspec.structs.replace(piece, text=kept).onto(line)
            break
        piece.onto(line)
        room -= width
    line.add(DOTS, "dim")


def _take(text: str, room: int, cells: int) -> tuple[int, bool]:
    """How many characters go on this row, and whether the row is full after them."""
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


def _pieces(text: str, findings: tuple[Finding, ...]) -> Iterator[Piece]:
    shown = visible(text)
    marks = [(*shown.map(finding.span), finding.risk) for finding in findings if finding.span]
    edges = sorted({edge for start, end, _ in marks for edge in (start, end)})
    atoms = [(e.start, e.end) for e in shown.escapes]
    atoms += [match.span() for match in _BLANKS.finditer(shown.text)]
    done = 0
    for start, end in [*sorted(atoms), (len(shown.text), len(shown.text))]:
        inner = edges[bisect_right(edges, done) : bisect_left(edges, start)]
        for a, b in pairwise([done, *inner, start]):
            if a < b:
                risk = _worst(marks, a, b)
                yield Piece(shown.text[a:b], RISK_TOKEN[risk] if risk else "fg", bool(risk))
        if start < end:
            yield _atom(shown.text[start:end], _worst(marks, start, end))
        done = end


def _atom(text: str, risk: Risk | None) -> Piece:
    if text.startswith("\\"):
        return Piece(text, "dim")
    ink = RISK_TOKEN[risk] if risk else "fg"
    return Piece(f"<{len(text)} blanks>" if text.isspace() else text, ink, bool(risk), hidden=True)


def _worst(marks: list[tuple[int, int, Risk]], start: int, end: int) -> Risk | None:
    risks = [risk for a, b, risk in marks if a < end and start < b]
    return max(risks, key=RISK_RANK.__getitem__, default=None)
