"""A JSON value as the rows of a tree, some of it folded, and these rows as lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from watchgate.ui.formats import DOTS, cut, width
from watchgate.ui.theming.palettes import Palette, Token
from watchgate.ui.widgets.pane import Line
from watchgate.ui.widgets.payload.json_tree import Node, size_words, tree
from watchgate.ui.widgets.request.command_text import Piece, marked, wrap
from watchgate.ui.widgets.request.sheet import INDENT, Sheet
from watchgate.ui.widgets.shown import COVERED, Look, shown

STEP = 2
FOLDED_CELLS = 60
_FOLDED_CHARS = 2_000
"""Characters of a folded text that are looked at: a secret is covered before it is cut."""


def draw_tree(sheet: Sheet, value: Any) -> None:
    """Writes a value with nothing folded and nothing cut."""
    for node in tree(value, bare=sheet.masking.bare):
        sheet.lines.extend(node_lines(node, sheet.cells, sheet.colors, sheet.masking))


def node_lines(
    node: Node,
    cells: int,
    colors: Palette,
    masking: Look = COVERED,
    ground: Token = "bg",
    *,
    pointed: bool = False,
) -> Iterator[Line]:
    """Draws one row of a tree, wrapped.

    What lies too deep for the width is not indented any further, and says how deep it lies.

    Args:
        node: The row.
        cells: Width to draw at.
        colors: The palette.
        masking: Which parts of its text are masked.
        ground: Ground of the lines.
        pointed: Whether the cursor is on it.
    """
    deepest = max(0, cells // 3 // STEP)
    start = INDENT + min(node.depth, deepest) * STEP
    parts = list(_pieces(node, masking, cells - start - STEP - 1))
    if node.depth > deepest:
        parts.insert(0, Piece(f"({node.depth} deep) ", "dim"))
    for place, row in enumerate(wrap(parts, max(1, cells - start - STEP - 1))):
        line = Line(colors, ground)
        if pointed and place == 0:
            line.add("> ", "accent", bold=True)
        line.to(start + (STEP if place else 0))
        for piece in row:
            line.add(piece.text, piece.ink, reverse=piece.hidden)
        yield line


def _pieces(node: Node, masking: Look, room: int) -> Iterator[Piece]:
    if node.name is not None:
        yield Piece('"', "dim")
        yield from _dim(marked(shown(node.name, masking), ()))
        yield Piece('": ', "dim")
    elif node.place:
        yield Piece("- ", "dim")
    if node.holds:
        inside = size_words(node)
        if node.folded:
            inside = f"{node.holds[:1]}... {inside}{node.holds[1:]}"
        yield Piece(inside, "fg" if node.folded else "dim")
    elif node.folded:
        size = f'..."  {size_words(node)}'
        left = min(FOLDED_CELLS, room - len(size) - width(node.name or "") - 8)
        yield Piece('"')
        yield from _beginning(marked(shown(node.value[:_FOLDED_CHARS], masking), ()), left)
        yield Piece(size, "dim")
    elif node.text:
        yield Piece('"')
        yield from marked(shown(node.value, masking), ())
        yield Piece('"')
    else:
        yield Piece(node.value)


def _dim(pieces: Iterator[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield msgspec.structs.replace(piece, ink="dim")


def _beginning(pieces: Iterator[Piece], left: int) -> Iterator[Piece]:
    """Yields the first pieces of a text, as many as one folded row has room for."""
    for piece in pieces:
        if left <= 0:
            return
        whole = piece.hidden or piece.ink == "dim" or width(piece.text) <= left
        text = piece.text if whole else cut(piece.text + DOTS, left + len(DOTS))[0]
        left -= width(text)
        yield msgspec.structs.replace(piece, text=text)
