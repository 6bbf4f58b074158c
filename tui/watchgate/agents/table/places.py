"""Values of a payload by their places, and the tools that a table's agent names in it.

A place is written as keys joined by dots, and compiled once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from watchgate.agents.hooks.payload import text

Place = tuple[str | int, ...]
Places = tuple[Place, ...]

_IN_BRACES = re.compile(r"\{([^{}]*)\}")


def compiled(written: tuple[str, ...]) -> Places:
    """Returns the places as keys and positions; a number stands for a position in a list."""
    return tuple(
        tuple(int(key) if key.isascii() and key.isdigit() else key for key in place.split("."))
        for place in written
    )


def found(payload: Any, places: Places) -> Any:
    """Returns the value at the first place that has one; None where none has."""
    for place in places:
        value = _at(payload, place)
        if value is not None and value != "":
            return value
    return None


def worded(written: str) -> Callable[[Any], str]:
    """Returns a function that replaces every `{place}` of a text by the words there."""
    pieces = _IN_BRACES.split(written)
    fixed, places = pieces[::2], [compiled((place,)) for place in pieces[1::2]]

    def words(payload: Any) -> str:
        texts = [text(found(payload, each)) for each in places]
        return "".join(part for pair in zip(fixed, [*texts, ""], strict=True) for part in pair)

    return words


def named_in(written: str) -> list[str]:
    """Returns the places that stand in braces."""
    return _IN_BRACES.findall(written)


def _at(value: Any, place: Place) -> Any:
    for key in place:
        if isinstance(value, dict):
            value = value.get(key if isinstance(key, str) else str(key))
        elif isinstance(value, list) and isinstance(key, int) and key < len(value):
            value = value[key]
        else:
            return None
    return value
