"""Edits of a JSON text that leave every byte alone which they do not mean.

Each function gives a new text; indentation, line endings and the final newline are taken from the
text itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from watchgate.service.setup.json_scan import Node

_INDENTED = re.compile(r"^([ \t]+)\S", re.MULTILINE)
_DEFAULT_UNIT = "  "


class Splice(msgspec.Struct, frozen=True):
    """One replacement: the text from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


class Style(msgspec.Struct, frozen=True):
    """How a file is laid out: its indentation unit and line ending, and whether it has lines."""

    unit: str
    newline: str
    multiline: bool


def style(text: str) -> Style:
    """The layout of a text; a file without one gets two spaces, LF and lines of its own."""
    indented = _INDENTED.search(text)
    return Style(
        unit=indented.group(1) if indented else _DEFAULT_UNIT,
        newline="\r\n" if "\r\n" in text else "\n",
        multiline="\n" in text.strip() or len(text.strip()) <= len("{}"),
    )


def apply(text: str, splices: Sequence[Splice]) -> str:
    """The text after all splices, whose places must not overlap."""
    for splice in sorted(splices, key=lambda each: each.start, reverse=True):
        text = text[: splice.start] + splice.text + text[splice.end :]
    return text


def append(text: str, container: Node, elements: Sequence[tuple[str | None, Any]]) -> Splice:
    """Adds elements at the end of an array (key None) or object."""
    look = style(text)
    children = _starts(container)
    if children and not _own_line(text, children[0]):
        look = msgspec.structs.replace(look, multiline=False)
    if not look.multiline:
        flat = [_element(key, value, look, "") for key, value in elements]
        if children:
            at = _last_end(container)
            return Splice(at, at, "".join(f", {each}" for each in flat))
        return Splice(container.start + 1, container.end - 1, ", ".join(flat))
    base = _indent_at(text, container.start)
    inner = _indent_at(text, children[0]) if children else base + look.unit
    lines = [f"{look.newline}{inner}{_element(key, value, look, inner)}" for key, value in elements]
    if children:
        at = _last_end(container)
        return Splice(at, at, "".join(f",{line}" for line in lines))
    return Splice(container.start + 1, container.end - 1, ",".join(lines) + look.newline + base)


def replace(text: str, item: Node, value: Any) -> Splice:
    """Puts another value where an element stands."""
    look = style(text)
    if not _own_line(text, item.start):
        look = msgspec.structs.replace(look, multiline=False)
    return Splice(item.start, item.end, _render(value, look, _indent_at(text, item.start)))


def remove(container: Node, doomed: Sequence[int]) -> list[Splice]:
    """Takes the elements at these positions out of an array or object, with their commas."""
    starts, ends = _starts(container), _ends(container)
    kept = [index for index in range(len(starts)) if index not in set(doomed)]
    if not kept:
        return [Splice(container.start + 1, container.end - 1, "")]
    splices = []
    for index in doomed:
        if index > kept[0]:
            splices.append(Splice(ends[index - 1], ends[index], ""))
        else:
            splices.append(Splice(starts[index], starts[index + 1], ""))
    return splices


def _starts(container: Node) -> list[int]:
    return [m.start for m in container.members] or [item.start for item in container.items]


def _ends(container: Node) -> list[int]:
    return [m.value.end for m in container.members] or [item.end for item in container.items]


def _last_end(container: Node) -> int:
    return _ends(container)[-1]


def _own_line(text: str, at: int) -> bool:
    return text[:at].rstrip(" \t").endswith("\n")


def _indent_at(text: str, at: int) -> str:
    """The whitespace that begins the line of this place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _element(key: str | None, value: Any, look: Style, indent: str) -> str:
    rendered = _render(value, look, indent)
    return rendered if key is None else f"{json.dumps(key)}: {rendered}"


def _render(value: Any, look: Style, indent: str) -> str:
    if not look.multiline:
        return json.dumps(value)
    return json.dumps(value, indent=look.unit).replace("\n", look.newline + indent)
