"""A JSON value as the rows of a tree, some of it folded, and these rows as lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from watchgate.core.base.amounts import plural
from watchgate.core.secrets.redact import redact_all
from watchgate.ui.base.formats import DOTS, cut, width
from watchgate.ui.base.theme import Palette, Token
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.base.request_text import Piece, marked, wrap
from watchgate.ui.widgets.base.sheet import INDENT, Sheet
from watchgate.ui.widgets.base.text_masking import COVERED, Masking, mask_text

JsonPath = tuple[str | int, ...]
"""The path of a value: the names and numbers that lead to it from the outermost one."""

LONG_TEXT = 200
"""Characters above which a text can be folded to its beginning."""

FOLDED_ITEMS = 20
FOLDED_TEXT = 1_000


class JsonNode(msgspec.Struct, frozen=True):
    """One row of a tree: a leaf with its value, or an object or list with its size.

    `name` is the field's name, None for an item of a list. A `text` is given as it is (to be drawn
    through `shown`), any other leaf as JSON writes it. `size` is how many it holds, or characters.
    """

    place: JsonPath
    name: str | None
    value: str = ""
    text: bool = False
    holds: str = ""
    size: int = 0
    folded: bool = False

    @property
    def depth(self) -> int:
        """The number of values around it, the outermost not counted."""
        return max(0, len(self.place) - 1)

    @property
    def foldable(self) -> bool:
        """True where something of it can be folded away."""
        return self.size > 0 if self.holds else self.text and self.size > LONG_TEXT


def tree(
    value: Any, folded: Collection[JsonPath] = (), *, bare: bool = False
) -> Iterator[JsonNode]:
    """Yields the rows of a value in their order; the inside of a folded one has none.

    The outermost object or list has no row unless it is empty. Words of a list are covered
    together unless `bare`: a secret may stand behind the word that announces it.
    """
    open_: list[Iterator[tuple[JsonPath, str | None, Any]]] = [iter([((), None, value)])]
    while open_:
        child = next(open_[-1], None)
        if child is None:
            open_.pop()
            continue
        place, name, each = child
        inner = _inside(place, each, bare=bare)
        if inner is None or not each:
            yield _leaf(place, name, each, folded)
            continue
        holds = "{}" if isinstance(each, Mapping) else "[]"
        shut = place in folded
        if place:
            yield JsonNode(place, name, holds=holds, size=len(each), folded=shut)
        if not shut:
            open_.append(inner)


def long_paths(value: Any) -> frozenset[JsonPath]:
    """Returns the paths to fold at first: long lists, long texts, objects with very many keys."""
    return frozenset(
        node.place
        for node in tree(value, bare=True)
        if node.size > (FOLDED_ITEMS if node.holds else FOLDED_TEXT) and (node.holds or node.text)
    )


def size_words(node: JsonNode) -> str:
    """Returns the size of a value in words: `12 keys`, `340 items`, `1,240 characters`."""
    if node.holds:
        return plural(node.size, "key" if node.holds == "{}" else "item")
    return plural(node.size, "character")


def _inside(
    place: JsonPath, value: Any, *, bare: bool
) -> Iterator[tuple[JsonPath, str | None, Any]] | None:
    if isinstance(value, Mapping):
        return (((*place, str(key)), str(key), part) for key, part in value.items())
    if isinstance(value, list | tuple):
        if not bare and all(isinstance(part, str) for part in value):
            value = redact_all(list(value))
        return (((*place, at), None, part) for at, part in enumerate(value))
    return None


def _leaf(place: JsonPath, name: str | None, value: Any, folded: Collection[JsonPath]) -> JsonNode:
    if isinstance(value, str):
        shut = len(value) > LONG_TEXT and place in folded
        return JsonNode(place, name, value, text=True, size=len(value), folded=shut)
    if isinstance(value, Mapping):
        return JsonNode(place, name, "{}")
    if isinstance(value, list | tuple):
        return JsonNode(place, name, "[]")
    return JsonNode(place, name, json.dumps(value, default=str))


STEP = 2
FOLDED_CELLS = 60
_FOLDED_CHARS = 2_000
"""Characters of a folded text that are looked at: a secret is covered before it is cut."""


def draw_tree(sheet: Sheet, value: Any) -> None:
    """Writes a value with nothing folded and nothing cut."""
    for node in tree(value, bare=sheet.masking.bare):
        sheet.lines.extend(node_lines(node, sheet.cells, sheet.colors, sheet.masking))


def node_lines(
    node: JsonNode,
    cells: int,
    colors: Palette,
    masking: Masking = COVERED,
    ground: Token = "bg",
    *,
    pointed: bool = False,
) -> Iterator[StyledLine]:
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
        line = StyledLine(colors, ground)
        if pointed and place == 0:
            line.add("> ", "accent", bold=True)
        line.to(start + (STEP if place else 0))
        for piece in row:
            line.add(piece.text, piece.ink, reverse=piece.hidden)
        yield line


def _pieces(node: JsonNode, masking: Masking, room: int) -> Iterator[Piece]:
    if node.name is not None:
        yield Piece('"', "dim")
        yield from _dim(marked(mask_text(node.name, masking), ()))
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
        yield from _beginning(marked(mask_text(node.value[:_FOLDED_CHARS], masking), ()), left)
        yield Piece(size, "dim")
    elif node.text:
        yield Piece('"')
        yield from marked(mask_text(node.value, masking), ())
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
