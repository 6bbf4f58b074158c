"""Edits a TOML text in place: finds its tables and values, and sets one value; all else stays.

Edited as text, as a TOML library puts a new key between a comment and the table that it is
about.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from watchgate.core.toml_text import toml_key, toml_pair, toml_value
from watchgate.service.setup.forms.editor import FormError
from watchgate.service.setup.forms.toml_scan import Pair, Section, sections

Key = tuple[str, ...]


def with_value(text: str, key: Key, value: object) -> str:
    """Returns the text with this value at this key; raises `FormError` if that takes a person.

    The text has to be valid TOML. The result is read again: nothing but that value may differ.
    """
    value = list(value) if isinstance(value, tuple) else value
    if not _can_be_written(value):
        raise FormError(f"{'.'.join(key)}: TOML cannot hold this value")
    values = tomllib.loads(text)
    wanted = _merged(values, key, value)
    if _same(wanted, values):
        return text
    newline = "\r\n" if "\r\n" in text else "\n"
    edited = _edited(text, key, value, newline)
    try:
        right = _same(tomllib.loads(edited), wanted)
    except tomllib.TOMLDecodeError:
        right = False
    if not right:
        raise FormError(f"{'.'.join(key)} cannot be set as this file is written: edit it by hand")
    return edited


def _can_be_written(value: object) -> bool:
    try:
        return _same(tomllib.loads(toml_pair(["value"], value)), {"value": value})
    except (TypeError, ValueError, RecursionError):
        return False


def _same(one: object, other: object) -> bool:
    """Returns whether two values are one in TOML, where 1 is not true and nan is nan."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_same, one, other))
    if isinstance(one, float) and isinstance(other, float) and math.isnan(one):
        return math.isnan(other)
    return type(one) is type(other) and one == other


def _merged(values: Mapping[str, Any], key: Key, value: object) -> dict[str, Any]:
    name, *rest = key
    if not rest:
        if isinstance(values.get(name), dict) and not isinstance(value, dict):
            raise FormError(f"{name} is a table: name one of its keys, as in {name}.KEY")
        return {**values, name: value}
    below = values.get(name, {})
    if not isinstance(below, dict):
        what = "a list" if isinstance(below, list) else "a single value"
        raise FormError(f"{name} is {what}, so it has no key {'.'.join(rest)}: edit it by hand")
    return {**values, name: _merged(below, tuple(rest), value)}


def _edited(text: str, key: Key, value: object, newline: str) -> str:
    reachable = _reachable(sections(text))
    pairs = [(section.path + pair.path, pair) for section in reachable for pair in section.pairs]
    for path, pair in pairs:
        if key[: len(path)] == path:
            if len(path) < len(key):
                inline = tomllib.loads(f"inline = {text[pair.value : pair.end]}")["inline"]
                return _replaced(text, pair, _merged(inline, key[len(path) :], value))
            return _replaced(text, pair, value)
    table = key[:-1]
    for section in reachable:
        behind = section.pairs[-1].end if section.pairs else section.start_of_pairs
        if section.path == table and (section.path or section.pairs):
            return _inserted(text, behind, key[-1:], value, newline)
        # A table that only keys with dots in them make can have no header of its own.
        dotted = [pair for pair in section.pairs if (section.path + pair.path)[:-1] == table]
        if dotted:
            path = key[len(section.path) :]
            return _inserted(text, dotted[-1].end, path, value, newline)
    if not table:
        return _at_the_top(text, reachable[0], toml_pair(key, value), newline)
    gap = "" if not text.strip() else newline if text.endswith("\n") else newline * 2
    return f"{text}{gap}[{toml_key(table)}]{newline}{toml_pair(key[-1:], value)}{newline}"


def _reachable(every_section: Sequence[Section]) -> list[Section]:
    """Returns the sections that a dotted key leads to: none in an array of tables."""
    arrays = [section.path for section in every_section if section.array]
    return [
        section
        for section in every_section
        if not any(section.path[: len(array)] == array for array in arrays)
    ]


def _replaced(text: str, pair: Pair, value: object) -> str:
    return text[: pair.value] + toml_value(value) + text[pair.end :]


def _inserted(text: str, behind: int, path: Key, value: object, newline: str) -> str:
    """Adds a line below the one that this place is in.

    Args:
        text: The whole text.
        behind: A place in the line before.
        path: The dotted key.
        value: The value.
        newline: The line ending of the text.
    """
    end = text.find("\n", behind)
    if end < 0:
        return f"{text}{newline}{toml_pair(path, value)}{newline}"
    return f"{text[: end + 1]}{toml_pair(path, value)}{newline}{text[end + 1 :]}"


def _at_the_top(text: str, top: Section, line: str, newline: str) -> str:
    """Adds the first key of a text: below a comment that is about the whole file."""
    blank = newline * 2
    head = text[: top.end]
    above, between, below = head.partition(blank)
    if between and above.startswith("#"):
        return f"{above}{blank}{line}{blank}{below.lstrip()}{text[top.end :]}"
    return f"{line}{newline}{newline if text.strip() else ''}{text}"
