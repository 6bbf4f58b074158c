"""Strict JSON with the place of every value, so that a file can be edited without rewriting it."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import msgspec

_SPACE = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"')
_SCALAR = re.compile(r"true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?")
_MAX_DEPTH = 100


class JsonError(ValueError):
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
    """One value: its type and where it stands in the text, `end` exclusive."""

    type: Literal["object", "array", "scalar"]
    start: int
    end: int
    members: tuple[Member, ...] = ()
    items: tuple[Node, ...] = ()

    def get(self, key: str, text: str) -> Node | None:
        """The value of an object's key; raises `JsonError` where the key stands twice."""
        found = [member for member in self.members if member.key == key]
        if len(found) > 1:
            raise JsonError(text, found[1].start, f'the key "{key}" stands twice in one object')
        return found[0].value if found else None

    def load(self, text: str) -> Any:
        """The value itself."""
        return json.loads(text[self.start : self.end])


def scan(text: str) -> Node:
    """The tree of a whole document; raises `JsonError` on anything that is not strict JSON."""
    node, at = _value(text, _skip(text, 0), 0)
    at = _skip(text, at)
    if at != len(text):
        raise JsonError(text, at, "text after the end of the JSON value")
    return node


def _value(text: str, at: int, depth: int) -> tuple[Node, int]:
    if depth > _MAX_DEPTH:
        raise JsonError(text, at, f"nested deeper than {_MAX_DEPTH} levels")
    opening = text[at : at + 1]
    if opening == "{":
        return _object(text, at, depth)
    if opening == "[":
        return _array(text, at, depth)
    match = (_STRING if opening == '"' else _SCALAR).match(text, at)
    if match is None:
        raise JsonError(text, at, _complaint(text, at))
    return Node("scalar", at, match.end()), match.end()


def _object(text: str, start: int, depth: int) -> tuple[Node, int]:
    members: list[Member] = []
    at = _skip(text, start + 1)
    if text[at : at + 1] == "}":
        return Node("object", start, at + 1), at + 1
    while True:
        key = _STRING.match(text, at)
        if key is None:
            raise JsonError(text, at, _complaint(text, at))
        colon = _skip(text, key.end())
        if text[colon : colon + 1] != ":":
            raise JsonError(text, colon, "a colon is missing after the key")
        value, end = _value(text, _skip(text, colon + 1), depth + 1)
        members.append(Member(json.loads(key.group()), at, value))
        at, closed = _next(text, end, "}")
        if closed:
            return Node("object", start, at, members=tuple(members)), at


def _array(text: str, start: int, depth: int) -> tuple[Node, int]:
    items: list[Node] = []
    at = _skip(text, start + 1)
    if text[at : at + 1] == "]":
        return Node("array", start, at + 1), at + 1
    while True:
        value, end = _value(text, at, depth + 1)
        items.append(value)
        at, closed = _next(text, end, "]")
        if closed:
            return Node("array", start, at, items=tuple(items)), at


def _next(text: str, end: int, closing: str) -> tuple[int, bool]:
    """Where the next element begins, or where the container ends."""
    at = _skip(text, end)
    found = text[at : at + 1]
    if found == closing:
        return at + 1, True
    if found != ",":
        raise JsonError(text, at, f'"," or "{closing}" is missing')
    return _skip(text, at + 1), False


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _complaint(text: str, at: int) -> str:
    found = text[at : at + 2]
    if not found:
        return "the text ends too early"
    if found in ("//", "/*"):
        return "a comment, which JSON does not have"
    return f"{found[0]!r} is not expected here"
