"""Edits a TOML text in place: finds its tables and values, and sets one value; all else stays.

Edited as text, as a TOML library puts a new key between a comment and the table that it is
about.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

import msgspec

_NAME: Final = re.compile(r"""\[\[\s*(?:"([^"]*)"|'([^']*)'|([\w-]+))\s*\]\]""")
_PART: Final = re.compile(
    r'"{3}(?:\\.|[^\\])*?"{3,5}|' + r"'{3}.*?'{3,5}"  # several lines
    r'|"(?:\\.|[^"\\\n])*"|' + r"'[^'\n]*'"
    r"|#[^\n]*|[\[\]{}]|\n|[^\"'#\[\]{}\n]+",
    re.DOTALL,
)


class Header(msgspec.Struct, frozen=True):
    """One `[table]` or `[[array of tables]]`: where its line begins, and the array's name."""

    start: int
    array: str


class Pair(msgspec.Struct, frozen=True):
    """One `key = value`: its dotted key, and where its value begins and ends."""

    path: tuple[str, ...]
    value: int
    end: int


class Section(msgspec.Struct, frozen=True):
    """The pairs below one header, or above the first: `array` says that the header is of one.

    Its pairs may begin at `start_of_pairs`; it ends before the next header.
    """

    path: tuple[str, ...]
    array: bool
    start_of_pairs: int
    end: int
    pairs: tuple[Pair, ...]


def headers(text: str) -> Iterator[Header]:
    """Yields every header of a valid TOML text, in order; brackets in strings are none."""
    for start, _ in _statements(text):
        if text[start] == "[":
            name = _NAME.match(text, start)
            array = next((each for each in name.groups() if each is not None), "") if name else ""
            yield Header(text.rfind("\n", 0, start) + 1, array)


def sections(text: str) -> list[Section]:
    """Returns every section of a valid TOML text, in order; the first is above all headers."""
    sections_so_far = [Section((), False, 0, len(text), ())]
    for start, end in _statements(text):
        last = sections_so_far[-1]
        if text[start] == "[":
            line = text.rfind("\n", 0, start) + 1
            sections_so_far[-1] = msgspec.structs.replace(last, end=line)
            array = text.startswith("[[", start)
            sections_so_far.append(Section(_path(text[start:end]), array, end, len(text), ()))
            continue
        equals = _equals(text, start)
        value = equals + 1 + len(text[equals + 1 :]) - len(text[equals + 1 :].lstrip(" \t"))
        pair = Pair(_path(f"{text[start:equals]}= 0"), value, end)
        sections_so_far[-1] = msgspec.structs.replace(last, pairs=(*last.pairs, pair))
    return sections_so_far


def _statements(text: str) -> Iterator[tuple[int, int]]:
    """Yields where each header and each pair begins and ends, without a comment behind it."""
    depth, at, start, end = 0, 0, -1, 0
    while match := _PART.match(text, at):
        part = match.group()
        if depth == 0 and start >= 0 and (part == "\n" or part.startswith("#")):
            yield start, end
            start = -1
        elif part.strip() and not part.startswith("#"):
            if start < 0:
                start = at + len(part) - len(part.lstrip())
            end = at + len(part.rstrip())
            depth += (part in ("[", "{")) - (part in ("]", "}"))
        at = match.end()
    if start >= 0:
        yield start, end


def _equals(text: str, at: int) -> int:
    """Returns the place of the equals sign behind a key, which may have some in quotes."""
    while match := _PART.match(text, at):
        if match.group()[0] not in "\"'" and "=" in match.group():
            return at + match.group().index("=")
        at = match.end()
    raise ValueError("a key without a value")


def _path(line: str) -> tuple[str, ...]:
    """Returns the dotted key of one header or pair."""
    level: Any = tomllib.loads(line)
    path = []
    while isinstance(level, dict) and level:
        [(name, level)] = level.items()
        path.append(name)
        level = level[0] if isinstance(level, list) else level
    return tuple(path)
