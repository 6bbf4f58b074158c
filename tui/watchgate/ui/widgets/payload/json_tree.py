"""A JSON value as the rows of a tree, some of it folded, and these rows as lines."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

import msgspec

from watchgate.core.amounts import plural
from watchgate.core.redact import redact_all

Place = tuple[str | int, ...]
"""The path of a value: the names and numbers that lead to it from the outermost one."""

LONG_TEXT = 200
"""Characters above which a text can be folded to its beginning."""

FOLDED_ITEMS = 20
FOLDED_TEXT = 1_000


class Node(msgspec.Struct, frozen=True):
    """One row of a tree: a leaf with its value, or an object or list with its size.

    `name` is the field's name, None for an item of a list. A `text` is given as it is (to be drawn
    through `shown`), any other leaf as JSON writes it. `size` is how many it holds, or characters.
    """

    place: Place
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


def tree(value: Any, folded: Collection[Place] = (), *, bare: bool = False) -> Iterator[Node]:
    """Yields the rows of a value in their order; the inside of a folded one has none.

    The outermost object or list has no row unless it is empty. Words of a list are covered
    together unless `bare`: a secret may stand behind the word that announces it.
    """
    open_: list[Iterator[tuple[Place, str | None, Any]]] = [iter([((), None, value)])]
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
            yield Node(place, name, holds=holds, size=len(each), folded=shut)
        if not shut:
            open_.append(inner)


def long_ones(value: Any) -> frozenset[Place]:
    """Returns the paths to fold at first: long lists, long texts, objects with very many keys."""
    return frozenset(
        node.place
        for node in tree(value, bare=True)
        if node.size > (FOLDED_ITEMS if node.holds else FOLDED_TEXT) and (node.holds or node.text)
    )


def size_words(node: Node) -> str:
    """Returns the size of a value in words: `12 keys`, `340 items`, `1,240 characters`."""
    if node.holds:
        return plural(node.size, "key" if node.holds == "{}" else "item")
    return plural(node.size, "character")


def _inside(
    place: Place, value: Any, *, bare: bool
) -> Iterator[tuple[Place, str | None, Any]] | None:
    if isinstance(value, Mapping):
        return (((*place, str(key)), str(key), part) for key, part in value.items())
    if isinstance(value, list | tuple):
        if not bare and all(isinstance(part, str) for part in value):
            value = redact_all(list(value))
        return (((*place, at), None, part) for at, part in enumerate(value))
    return None


def _leaf(place: Place, name: str | None, value: Any, folded: Collection[Place]) -> Node:
    if isinstance(value, str):
        shut = len(value) > LONG_TEXT and place in folded
        return Node(place, name, value, text=True, size=len(value), folded=shut)
    if isinstance(value, Mapping):
        return Node(place, name, "{}")
    if isinstance(value, list | tuple):
        return Node(place, name, "[]")
    return Node(place, name, json.dumps(value, default=str))
