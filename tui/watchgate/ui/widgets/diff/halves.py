"""A difference as lines: in one column with both line numbers, or old and new side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import zip_longest

from watchgate.core.diff.rows import Row, runs
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.widgets.diff.text import add_to, rows_of
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.request.command_text import Piece
from watchgate.ui.widgets.shown import COVERED, Look

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


def halves(cells: int) -> bool:
    """Returns whether old and new fit side by side."""
    return cells - INDENT - 1 >= 2 * HALF + BETWEEN


def drawn(
    rows: Sequence[Row],
    cells: int,
    colors: Palette,
    masking: Look = COVERED,
    *,
    numbers: bool = True,
) -> Iterator[Line]:
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
    if numbers and halves(cells) and {"+", "-"} <= {row.sign for row in rows}:
        yield from _side_by_side(rows, cells, colors, masking)
    else:
        wide = _digits(rows) if numbers and cells >= NUMBERED_FROM else 0
        yield from _below(rows, cells, colors, masking, wide)


def _digits(rows: Sequence[Row]) -> int:
    largest = max((number for row in rows for number in (row.old, row.new) if number), default=1)
    return max(5, len(str(largest)) + 1)


def _below(
    rows: Sequence[Row], cells: int, colors: Palette, masking: Look, wide: int
) -> Iterator[Line]:
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
            line = Line(colors).to(INDENT + (2 * wide + 2 if wide else 0) + 2)
            yield from _hunk_head(line, row, cells, colors, masking)
            continue
        gutter = 2 * wide + 4 if wide else 2
        for place, pieces in enumerate(rows_of(row, cells - INDENT - gutter - 1, masking)):
            line = Line(colors).to(INDENT)
            first = place == 0
            if wide:
                line.add(_number(row.old, wide, first=first), ink, on=ground)
                line.add(f"{_number(row.new, wide, first=first)}  ", ink, on=ground)
            line.add(f"{row.sign if first else ' '} ", ink, on=ground, bold=True)
            add_to(line, pieces, ink if row.sign != " " else "fg", ground)
            yield line.add(" " * (cells - 1 - line.left_cells), ink, on=ground)


def _side_by_side(
    rows: Sequence[Row], cells: int, colors: Palette, masking: Look
) -> Iterator[Line]:
    wide = _digits(rows)
    half = (cells - INDENT - 1 - BETWEEN) // 2
    room = half - wide - 4
    for old, new in runs(rows):
        if old and old[0].sign == "@":
            line = Line(colors).to(INDENT + wide + 4)
            yield from _hunk_head(line, old[0], cells, colors, masking)
            continue
        for left, right in zip_longest(old, new):
            texts = [rows_of(row, room, masking) if row else () for row in (left, right)]
            for place, (a, b) in enumerate(zip_longest(*texts)):
                line = Line(colors).to(INDENT)
                _half(line, left, a, (wide, half), old=True, first=place == 0)
                line.to(INDENT + half + BETWEEN)
                _half(line, right, b, (wide, half), old=False, first=place == 0)
                yield line


def _half(
    line: Line,
    row: Row | None,
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


def _hunk_head(line: Line, row: Row, cells: int, colors: Palette, masking: Look) -> Iterator[Line]:
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
        own = line if place == 0 else Line(colors).to(column)
        yield add_to(own, pieces, "dim", None)


def _number(number: int | None, wide: int, *, first: bool) -> str:
    return (str(number) if number is not None and first else "").rjust(wide)
