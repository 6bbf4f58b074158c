"""Edits a JSON text so that every byte that is not meant stays.

Each function gives splices; indentation, line endings and the final newline are taken from the
text itself, and comments stay where they are.

- Parses JSON with the place of every value, so that a file can be edited in place. Strict, unless
  the text may hold what some agents read besides: comments (`//`, `/* */`) and a comma behind the
  last element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final, Literal

import msgspec

from watchgate.service.setup.forms.form_editor import FormError

_JSON_SPACE = re.compile(r"[ \t\r\n]*")
_TRIVIA = re.compile(r"(?:[ \t\r\n]+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MAX_DEPTH: Final = 100
_MAX_NUMBER: Final = 4_300
"""Python itself takes no longer whole number out of a text."""


class JsonError(FormError):
    """The text is not JSON, or not the JSON that was expected; the message names the line."""

    def __init__(self, text: str, at: int, what: str) -> None:
        line = text.count("\n", 0, at) + 1
        super().__init__(f"line {line}: {what}")


class Member(msgspec.Struct, frozen=True):
    """One `"key": value` of an object; `start` is where its key begins."""

    key: str
    start: int
    value: Node


class Node(msgspec.Struct, frozen=True):
    """One value: its type and where it stands in the text, `end` exclusive.

    `commas` are the places of the commas between its elements, and of one behind the last.
    """

    type: Literal["object", "array", "scalar"]
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()
    commas: tuple[int, ...] = ()

    def get(self, key: str, text: str) -> Node | None:
        """Returns the value of an object's key; raises `JsonError` where the key stands twice."""
        matches = [member for member in self.members if member.key == key]
        if len(matches) > 1:
            raise JsonError(text, matches[1].start, f'the key "{key}" stands twice in one object')
        return matches[0].value if matches else None

    def load(self, text: str) -> Any:
        """Returns the value itself."""
        if self.type == "object":
            return {member.key: member.value.load(text) for member in self.members}
        if self.type == "array":
            return [item.load(text) for item in self.items]
        return json.loads(text[self.start : self.end])


def scan(text: str, *, comments: bool = False) -> Node:
    """Parses a whole document; raises `JsonError` on anything that is not JSON."""
    reader = _JsonReader(text, comments=comments)
    node, at = reader.value(reader.skip(0), 0)
    at = reader.skip(at)
    if at != len(text):
        raise JsonError(text, at, reader.complaint(at, "text after the end of the JSON value"))
    return node


class _JsonReader:
    """One text, read from its beginning."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._lenient = comments
        self._between = _TRIVIA if comments else _JSON_SPACE

    def skip(self, at: int) -> int:
        """Returns the next place that is no space and, where they may be, no comment."""
        match = self._between.match(self._text, at)
        return match.end() if match else at

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        """Parses the value that begins here; returns it and where it ends."""
        if depth > _MAX_DEPTH:
            raise JsonError(self._text, at, f"nested deeper than {_MAX_DEPTH} levels")
        opening = self._text[at : at + 1]
        if opening in ("{", "["):
            return self._container(at, depth)
        match = (_STRING if opening == '"' else _SCALAR).match(self._text, at)
        if match is None:
            raise JsonError(self._text, at, self.complaint(at))
        if opening != '"' and match.end() - at > _MAX_NUMBER:
            raise JsonError(self._text, at, f"a number of over {_MAX_NUMBER} characters")
        return Node("scalar", at, match.end()), match.end()

    def complaint(self, at: int, otherwise: str = "") -> str:
        """Returns the fault at this place in the text, in words."""
        start = self._text[at : at + 2]
        if not start:
            return "the text ends too early"
        if start == "/*" and self._lenient:
            return "a comment without an end"
        if start in ("//", "/*"):
            return "a comment, which JSON does not have"
        return otherwise or f"{start[0]!r} is not expected here"

    def _container(self, start: int, depth: int) -> tuple[Node, int]:
        is_object = self._text[start] == "{"
        closing = "}" if is_object else "]"
        members: list[Member] = []
        items: list[Node] = []
        commas: list[int] = []
        at = self.skip(start + 1)
        while self._text[at : at + 1] != closing or (commas and not self._lenient):
            begin, key = at, ""
            if is_object:
                key, at = self._key(at)
            value, at = self.value(at, depth + 1)
            if is_object:
                members.append(Member(key, begin, value))
            else:
                items.append(value)
            at = self.skip(at)
            if self._text[at : at + 1] == closing:
                break
            if self._text[at : at + 1] != ",":
                wrong = self.complaint(at, f'"," or "{closing}" is missing')
                if wrong == "the text ends too early":
                    wrong = f'"," or "{closing}" is missing'
                raise JsonError(self._text, at, wrong)
            commas.append(at)
            at = self.skip(at + 1)
        kind: Literal["object", "array"] = "object" if is_object else "array"
        node = Node(kind, start, at + 1, tuple(members), tuple(items), tuple(commas))
        return node, at + 1

    def _key(self, at: int) -> tuple[str, int]:
        key = _STRING.match(self._text, at)
        if key is None:
            raise JsonError(self._text, at, self.complaint(at))
        colon = self.skip(key.end())
        if self._text[colon : colon + 1] != ":":
            raise JsonError(self._text, colon, "a colon is missing after the key")
        return json.loads(key.group()), self.skip(colon + 1)


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
