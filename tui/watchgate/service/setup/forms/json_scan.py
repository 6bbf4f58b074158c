"""Parses JSON with the place of every value, so that a file can be edited in place.

Strict, unless the text may hold what some agents read besides: comments (`//`, `/* */`) and a comma
behind the last element.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final, Literal

import msgspec

from watchgate.service.setup.forms.editor import FormError

_SPACE = re.compile(r"[ \t\r\n]*")
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
    reader = _Reader(text, comments=comments)
    node, at = reader.value(reader.skip(0), 0)
    at = reader.skip(at)
    if at != len(text):
        raise JsonError(text, at, reader.complaint(at, "text after the end of the JSON value"))
    return node


class _Reader:
    """One text, read from its beginning."""

    def __init__(self, text: str, *, comments: bool) -> None:
        self._text = text
        self._lenient = comments
        self._between = _TRIVIA if comments else _SPACE

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
        """Returns what is wrong here, in words."""
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
