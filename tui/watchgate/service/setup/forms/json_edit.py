"""Edits a JSON text so that every byte that is not meant stays.

Each function gives splices; indentation, line endings and the final newline are taken from the
text itself, and comments stay where they are.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from watchgate.service.setup.forms.json_scan import Node

_INDENTED = re.compile(r"^([ \t]+)[^\s*/]", re.MULTILINE)
_DEFAULT_UNIT = "  "
_SPACE = " \t\r\n"


class Splice(msgspec.Struct, frozen=True):
    """One replacement: the text from `start` to `end` becomes `text`."""

    start: int
    end: int
    text: str


class Style(msgspec.Struct, frozen=True):
    """The layout of a file: its indentation unit and line ending, and whether it has lines."""

    unit: str
    newline: str
    multiline: bool


def style(text: str) -> Style:
    """Returns the layout of a text; one without gets two spaces, LF and lines of its own."""
    indented = _INDENTED.search(text)
    return Style(
        unit=indented.group(1) if indented else _DEFAULT_UNIT,
        newline="\r\n" if "\r\n" in text else "\n",
        multiline="\n" in text.strip() or len(text.strip()) <= len("{}"),
    )


def apply(text: str, splices: Sequence[Splice]) -> str:
    """Returns the text after all splices, whose places must not overlap."""
    parts, at = [], 0
    # Stable, so that two insertions at one place stay in their order.
    for splice in sorted(splices, key=lambda each: each.start):
        parts += [text[at : splice.start], splice.text]
        at = splice.end
    return "".join([*parts, text[at:]])


def append(text: str, container: Node, elements: Sequence[tuple[str | None, Any]]) -> list[Splice]:
    """Adds elements at the end of an array (key None) or object, behind comments there."""
    look = style(text)
    children, commas = _starts(container), container.commas
    if children and not _own_line(text, children[0]):
        look = msgspec.structs.replace(look, multiline=False)
    base = _indent_at(text, container.start)
    inner = _indent_at(text, children[0]) if children else base + look.unit
    tail, bare = _tail(text, container), is_bare(text, container)
    begin = f"{look.newline}{inner}" if look.multiline or not bare else " "
    made = f",{begin}".join(_element(key, value, look, inner) for key, value in elements)
    if children and len(commas) == len(children):
        return [Splice(tail, tail, f"{begin}{made},")]
    if children:
        last = _ends(container)[-1]
        return [Splice(last, last, ","), Splice(tail, tail, f"{begin}{made}")]
    if bare:
        end = f"{look.newline}{base}" if look.multiline else ""
        begin = begin if look.multiline else ""
        return [Splice(tail, container.end - 1, f"{begin}{made}{end}")]
    return [Splice(tail, tail, f"{begin}{made}")]


def replace(text: str, item: Node, value: Any) -> Splice:
    """Puts another value where an element stands."""
    look = style(text)
    if not _own_line(text, item.start):
        look = msgspec.structs.replace(look, multiline=False)
    return Splice(item.start, item.end, _render(value, look, _indent_at(text, item.start)))


def remove(text: str, container: Node, doomed: Sequence[int]) -> list[Splice]:
    """Takes the elements at these positions out of an array or object, with their commas."""
    starts, ends, commas = _starts(container), _ends(container), container.commas
    gone = set(doomed)
    remaining = [index for index in range(len(starts)) if index not in gone]
    if not remaining and is_bare(text, container):
        return [Splice(container.start + 1, container.end - 1, "")]
    splices = [_without(text, starts[at], ends[at], commas[at : at + 1]) for at in sorted(gone)]
    splices += [Splice(commas[at], commas[at] + 1, "") for at in gone if at < len(commas)]
    ended_bare = len(commas) < len(starts)
    if remaining and ended_bare and remaining[-1] < len(commas):
        splices.append(Splice(commas[remaining[-1]], commas[remaining[-1]] + 1, ""))
    return splices


def is_bare(text: str, container: Node) -> bool:
    """Returns whether a container holds nothing but elements: no comment."""
    begins = [container.start + 1, *_ends(container)]
    places = zip(begins, [*_starts(container), container.end - 1], strict=True)
    return not any(text[start:end].strip(_SPACE + ",") for start, end in places)


def _without(text: str, start: int, end: int, comma: Sequence[int]) -> Splice:
    """Takes one element out with the space before it, unless a comment would run into the rest."""
    tail = len(text[:start].rstrip(_SPACE))
    rest = text[comma[0] + 1 :] if comma else text[end:]
    last_line = text[text.rfind("\n", 0, tail) + 1 : tail]
    runs_on = "//" in last_line and rest.lstrip(" \t")[:1] not in ("\r", "\n")
    return Splice(tail, end, "\n" if runs_on and tail < start else "")


def _starts(container: Node) -> list[int]:
    return [m.start for m in container.members] or [item.start for item in container.items]


def _ends(container: Node) -> list[int]:
    return [m.value.end for m in container.members] or [item.end for item in container.items]


def _tail(text: str, container: Node) -> int:
    """Returns the place behind the last thing in a container that is no space."""
    return len(text[: container.end - 1].rstrip(_SPACE))


def _own_line(text: str, at: int) -> bool:
    return text[:at].rstrip(" \t").endswith("\n")


def _indent_at(text: str, at: int) -> str:
    """Returns the whitespace that begins the line of this place."""
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _element(key: str | None, value: Any, look: Style, indent: str) -> str:
    rendered = _render(value, look, indent)
    return rendered if key is None else f"{json.dumps(key)}: {rendered}"


def _render(value: Any, look: Style, indent: str) -> str:
    if not look.multiline:
        return json.dumps(value)
    return json.dumps(value, indent=look.unit).replace("\n", look.newline + indent)
