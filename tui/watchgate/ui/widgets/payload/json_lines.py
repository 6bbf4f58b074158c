"""The rows of a JSON tree as lines: names dim, values plain, nothing that hides."""

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
    """Write a value with nothing folded and nothing cut."""
    for node in tree(value, bare=sheet.how.bare):
        sheet.lines.extend(node_lines(node, sheet.cells, sheet.colors, sheet.how))


def node_lines(
    node: Node,
    cells: int,
    colors: Palette,
    how: Look = COVERED,
    ground: Token = "bg",
    *,
    pointed: bool = False,
) -> Iterator[Line]:
    """One row of a tree, wrapped; `pointed` when the cursor is on it.

    What lies too deep for the width is not indented any further, and says how deep it lies.
    """
    deepest = max(0, cells // 3 // STEP)
    start = INDENT + min(node.depth, deepest) * STEP
    said = list(_pieces(node, how, cells - start - STEP - 1))
    if node.depth > deepest:
        said.insert(0, Piece(f"({node.depth} deep) ", "dim"))
    for place, row in enumerate(wrap(said, max(1, cells - start - STEP - 1))):
        line = Line(colors, ground)
        if pointed and place == 0:
            line.add("> ", "accent", bold=True)
        line.to(start + (STEP if place else 0))
        for piece in row:
            line.add(piece.text, piece.ink, reverse=piece.hidden)
        yield line


def _pieces(node: Node, how: Look, room: int) -> Iterator[Piece]:
    if node.name is not None:
        yield Piece('"', "dim")
        yield from _dim(marked(shown(node.name, how), ()))
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
        yield from _beginning(marked(shown(node.value[:_FOLDED_CHARS], how), ()), left)
        yield Piece(size, "dim")
    elif node.text:
        yield Piece('"')
        yield from marked(shown(node.value, how), ())
        yield Piece('"')
    else:
        yield Piece(node.value)


def _dim(pieces: Iterator[Piece]) -> Iterator[Piece]:
    for piece in pieces:
        yield msgspec.structs.replace(piece, ink="dim")


def _beginning(pieces: Iterator[Piece], left: int) -> Iterator[Piece]:
    """The first pieces of a text, as many as one folded row has room for."""
    for piece in pieces:
        if left <= 0:
            return
        whole = piece.hidden or piece.ink == "dim" or width(piece.text) <= left
        text = piece.text if whole else cut(piece.text + DOTS, left + len(DOTS))[0]
        left -= width(text)
        yield msgspec.structs.replace(piece, text=text)
