"""A difference as lines: in one column with both line numbers, or old and new side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest

import msgspec

from watchgate.core.base.text import Span
from watchgate.core.tools.diff_rows import DiffRow, runs
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, marked, wrap
from watchgate.ui.widgets.base.text_masking import COVERED, Masking, mask_text


class ChangedPiece(Piece, frozen=True, gc=False):
    """A piece of a line; `changed` where the other side has other words."""

    changed: bool = False


def rows_of(row: DiffRow, cells: int, masking: Masking) -> tuple[tuple[Piece, ...], ...]:
    """Wraps the line to so many cells; every character of it is in one of the rows."""
    masking = msgspec.structs.replace(masking, code=True)
    masked = mask_text(row.text, masking)
    words = tuple(masked.span(span) for span in row.words)
    return wrap(_worded(marked(masked, row.marks), words), max(1, cells))


def add_to(
    line: StyledLine, row: tuple[Piece, ...], ink: Token, ground: Token | None
) -> StyledLine:
    """Adds one wrapped row in the ink of its side."""
    for piece in row:
        changed = isinstance(piece, ChangedPiece) and piece.changed
        line.add(
            piece.text,
            ink if piece.ink == "fg" else piece.ink,
            on=ground,
            bold=piece.marked or changed,
            underline=piece.marked,
            reverse=piece.hidden,
        )
    return line


def _worded(pieces: Iterator[Piece], words: tuple[Span, ...]) -> Iterator[Piece]:
    """Yields the pieces, cut where changed words begin and end."""
    if not words:
        yield from pieces
        return
    edges = sorted({edge for span in words for edge in span})
    at = 0
    for piece in pieces:
        end = at + len(piece.text)
        cuts = [at, *(edge for edge in edges if at < edge < end), end]
        for first, last in pairwise(cuts):
            inside = any(start <= first < stop for start, stop in words)
            yield ChangedPiece(
                piece.text[first - at : last - at], piece.ink, piece.marked, piece.hidden, inside
            )
        at = end


INDENT = 2
HALF = 60
"""The cells that each side needs before both are drawn beside each other."""

BETWEEN = 2
NUMBERED_FROM = 60
"""Narrower than this the sign alone tells the lines apart: numbers would leave no room for them."""

_INK: dict[str, tuple[Token, Token | None]] = {
    "+": ("add", "add_ground"),
    "-": ("del", "del_ground"),
    " ": ("dim", None),
    "@": ("off", None),
}
_NOTHING: tuple[Piece, ...] = ()


def fits_side_by_side(cells: int) -> bool:
    """Returns whether old and new fit side by side."""
    return cells - INDENT - 1 >= 2 * HALF + BETWEEN


def draw_rows(
    rows: Sequence[DiffRow],
    cells: int,
    colors: Palette,
    masking: Masking = COVERED,
    *,
    numbers: bool = True,
) -> Iterator[StyledLine]:
    """Draws the rows: side by side from `HALF` cells for each, else one below the other.

    Without `numbers` they are of no file; these, and lines that have no other side, are always one
    below the other.

    Args:
        rows: The rows of the difference.
        cells: Width to draw at.
        colors: The palette.
        masking: Which parts of the text are masked.
        numbers: Whether the rows have line numbers of a file.
    """
    if numbers and fits_side_by_side(cells) and {"+", "-"} <= {row.sign for row in rows}:
        yield from _side_by_side(rows, cells, colors, masking)
    else:
        wide = _digits(rows) if numbers and cells >= NUMBERED_FROM else 0
        yield from _below(rows, cells, colors, masking, wide)


def _digits(rows: Sequence[DiffRow]) -> int:
    largest = max((number for row in rows for number in (row.old, row.new) if number), default=1)
    return max(5, len(str(largest)) + 1)


def _below(
    rows: Sequence[DiffRow], cells: int, colors: Palette, masking: Masking, wide: int
) -> Iterator[StyledLine]:
    """Draws the rows one below the other.

    Args:
        rows: The rows of the difference.
        cells: Width to draw at.
        colors: The palette.
        masking: Which parts of the text are masked.
        wide: Cells of each line number, 0 without numbers.
    """
    for row in rows:
        ink, ground = _INK[row.sign]
        if row.sign == "@":
            line = StyledLine(colors).to(INDENT + (2 * wide + 2 if wide else 0) + 2)
            yield from _hunk_head(line, row, cells, colors, masking)
            continue
        gutter = 2 * wide + 4 if wide else 2
        for place, pieces in enumerate(rows_of(row, cells - INDENT - gutter - 1, masking)):
            line = StyledLine(colors).to(INDENT)
            first = place == 0
            if wide:
                line.add(_number(row.old, wide, first=first), ink, on=ground)
                line.add(f"{_number(row.new, wide, first=first)}  ", ink, on=ground)
            line.add(f"{row.sign if first else ' '} ", ink, on=ground, bold=True)
            add_to(line, pieces, ink if row.sign != " " else "fg", ground)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=ground)


def _side_by_side(
    rows: Sequence[DiffRow], cells: int, colors: Palette, masking: Masking
) -> Iterator[StyledLine]:
    wide = _digits(rows)
    half = (cells - INDENT - 1 - BETWEEN) // 2
    room = half - wide - 4
    for old, new in runs(rows):
        if old and old[0].sign == "@":
            line = StyledLine(colors).to(INDENT + wide + 4)
            yield from _hunk_head(line, old[0], cells, colors, masking)
            continue
        for left, right in zip_longest(old, new):
            texts = [rows_of(row, room, masking) if row else () for row in (left, right)]
            for place, (a, b) in enumerate(zip_longest(*texts)):
                line = StyledLine(colors).to(INDENT)
                _half(line, left, a, (wide, half), old=True, first=place == 0)
                line.to(INDENT + half + BETWEEN)
                _half(line, right, b, (wide, half), old=False, first=place == 0)
                yield line


def _half(
    line: StyledLine,
    row: DiffRow | None,
    pieces: tuple[Piece, ...] | None,
    sizes: tuple[int, int],
    *,
    old: bool,
    first: bool,
) -> None:
    """Draws one side of a line: number, sign, text, and its ground to the side's end.

    Args:
        line: The line to add to.
        row: The row of this side, None where it has none.
        pieces: One wrapped part of the row's text.
        sizes: Cells of a number, and of the whole side.
        old: Whether it is the side before the edit.
        first: Whether it is the first part of the row.
    """
    if row is None:
        return
    wide, half = sizes
    end = line.left_cells + half
    ink, ground = _INK[row.sign]
    number = row.old if old else row.new
    line.add(f"{_number(number, wide, first=first)}  ", ink, on=ground)
    line.add(f"{row.sign if first else ' '} ", ink, on=ground, bold=True)
    add_to(line, pieces or _NOTHING, ink if row.sign != " " else "fg", ground)
    line.add(" " * (end - line.left_cells), ink, on=ground)


def _hunk_head(
    line: StyledLine, row: DiffRow, cells: int, colors: Palette, masking: Masking
) -> Iterator[StyledLine]:
    """Draws the row that stands before a group of changes.

    Args:
        line: The line, begun at its column.
        row: The row to draw.
        cells: Width to draw at.
        colors: The palette.
        masking: Which parts of the text are masked.
    """
    column = line.left_cells
    for place, pieces in enumerate(rows_of(row, cells - column - 1, masking)):
        own = line if place == 0 else StyledLine(colors).to(column)
        yield add_to(own, pieces, "dim", None)


def _number(number: int | None, wide: int, *, first: bool) -> str:
    return (str(number) if number is not None and first else "").rjust(wide)
