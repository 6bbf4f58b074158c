"""The places of a TOML file's table headers, so that tables can be added and taken out as text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

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


def headers(text: str) -> Iterator[Header]:
    """Every header of a valid TOML text, in order; brackets in strings and arrays are none."""
    depth, at, fresh = 0, 0, True
    while match := _PART.match(text, at):
        part = match.group()
        if part == "[" and fresh and depth == 0:
            name = _NAME.match(text, at)
            found = next((each for each in name.groups() if each is not None), "") if name else ""
            yield Header(text.rfind("\n", 0, at) + 1, found)
            end = text.find("\n", at)
            at = len(text) if end < 0 else end
            continue
        if part == "\n":
            fresh = True
        elif part.strip():
            fresh = False
            depth += (part in ("[", "{")) - (part in ("]", "}"))
        at = match.end()
