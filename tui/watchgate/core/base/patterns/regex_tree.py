"""A regular expression as a tree of few kinds of nodes, made of what Python's own parser reads.

The parser is the one part of `re` that knows the whole syntax, so that a pattern means here what it
means there; it is private to Python, and this file alone knows it.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

_parser: Any = importlib.import_module("re._parser")
_compiler: Any = importlib.import_module("re._compiler")

OTHER = 1 << 128
"""Of a set of characters: it holds some beyond ASCII that are no blanks."""
BLANK = 1 << 129
"""Likewise, some that are."""
ANY = (1 << 130) - 1


class One(msgspec.Struct, frozen=True):
    """One character out of a set; `chars` has a bit for each of ASCII, `OTHER` and `BLANK`.

    `chars` may name too many, `test` is exact.
    """

    chars: int
    written: str
    test: Callable[[], Callable[[str], object]]


class Sequence(msgspec.Struct, frozen=True):
    """Nodes one behind the other."""

    parts: tuple[Node, ...]


class Alternatives(msgspec.Struct, frozen=True):
    """One of several nodes."""

    parts: tuple[Node, ...]


class Repeat(msgspec.Struct, frozen=True):
    """A node `low` to `high` times; None is without end."""

    body: Node
    low: int
    high: int | None


class Atomic(msgspec.Struct, frozen=True):
    """A node that is matched in the first way that fits, and no other (`(?>...)`, `*+`)."""

    body: Node


class Boundary(msgspec.Struct, frozen=True):
    """A condition on a place: `ends` where it holds only behind the last line, `test` is exact."""

    ends: bool
    newline: bool
    word: bool
    starts: bool
    test: Callable[[], re.Pattern[str]]


class Lookaround(msgspec.Struct, frozen=True):
    """A condition on what stands before or behind a place.

    `test` finds it, where it is as it was written.
    """

    body: Node
    ahead: bool
    wanted: bool
    test: Callable[[], re.Pattern[str]] | None


class RememberedCharacter(msgspec.Struct, frozen=True):
    """One character that a group remembers."""

    group: int
    body: One


class Backreference(msgspec.Struct, frozen=True):
    """A reference to what a group matched; without a group, a condition on one."""

    group: int = 0


class Never(msgspec.Struct, frozen=True):
    """Nothing at all."""


Node = (
    One
    | Sequence
    | Alternatives
    | Repeat
    | Atomic
    | Boundary
    | Lookaround
    | RememberedCharacter
    | Backreference
    | Never
)


def parsed(source: str, flags: int = 0) -> Node:
    """The tree of a pattern; raises what `re.compile` raises."""
    read = _parser.parse(source, flags)
    return _TreeBuilder(read.state).sequence(read, read.state.flags)


_WORD = sum(1 << code for code in range(128) if chr(code).isalnum() or chr(code) == "_")
_DIGIT = sum(1 << code for code in range(128) if chr(code).isdigit())
_SPACE = sum(1 << code for code in range(128) if chr(code).isspace())
_BEYOND = OTHER | BLANK
_ASCII = ANY ^ _BEYOND
WORD = _WORD | OTHER
_CATEGORIES = {
    "WORD": WORD,
    "DIGIT": _DIGIT | OTHER,
    "SPACE": _SPACE | BLANK,
    "NOT_WORD": (_ASCII & ~_WORD) | _BEYOND,
    "NOT_DIGIT": (_ASCII & ~_DIGIT) | _BEYOND,
    "NOT_SPACE": (_ASCII & ~_SPACE) | OTHER,
}
# Letters of ASCII that are the other case of one beyond it.
_WIDE = tuple("kKsSiI")


_MEANING = int(re.DOTALL | re.IGNORECASE | re.ASCII)


class _TreeBuilder:
    def __init__(self, state: Any) -> None:
        self._state = state
        self._known: dict[str, One] = {}

    def sequence(self, items: Iterable[Any], flags: int) -> Node:
        parts = tuple(self._node(name, value, flags) for name, value in items)
        return parts[0] if len(parts) == 1 else Sequence(parts)

    def _node(self, name: Any, value: Any, flags: int) -> Node:
        kind = str(name)
        if kind in {"LITERAL", "NOT_LITERAL", "ANY", "IN"}:
            return self._one(kind, name, value, flags)
        if kind in {"AT", "ASSERT", "ASSERT_NOT"}:
            return self._condition(kind, name, value, flags)
        if kind in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}:
            low, high, body = value
            max_count = None if str(high) == "MAXREPEAT" else int(high)
            repeat = Repeat(self.sequence(body, flags), int(low), max_count)
            return Atomic(repeat) if kind == "POSSESSIVE_REPEAT" else repeat
        return self._group(kind, value, flags)

    def _group(self, kind: str, value: Any, flags: int) -> Node:
        if kind == "BRANCH":
            return Alternatives(tuple(self.sequence(part, flags) for part in value[1]))
        if kind == "SUBPATTERN":
            group, added, taken, body = value
            made = self.sequence(body, (flags | added) & ~taken)
            return RememberedCharacter(group, made) if group and isinstance(made, One) else made
        if kind == "ATOMIC_GROUP":
            return Atomic(self.sequence(value, flags))
        if kind == "FAILURE":
            return Never()
        return Backreference(value if kind == "GROUPREF" and not flags & re.IGNORECASE else 0)

    def _condition(self, kind: str, name: Any, value: Any, flags: int) -> Node:
        test = self._compiled(name, value, flags)
        if kind != "AT":
            body = self.sequence(value[1], flags)
            return Lookaround(body, value[0] > 0, kind == "ASSERT", test)
        where, many = str(value), bool(flags & re.MULTILINE)
        return Boundary(
            ends=where in {"AT_END", "AT_END_STRING"},
            newline=where == "AT_END",
            word=where == "AT_BOUNDARY",
            starts=where == "AT_BEGINNING_STRING" or (where == "AT_BEGINNING" and not many),
            test=test,
        )

    def _one(self, kind: str, name: Any, value: Any, flags: int) -> One:
        written = f"{kind} {value} {int(flags) & _MEANING}"
        known = self._known.get(written)
        if known is not None:
            return known
        if kind == "ANY":
            chars = ANY if flags & re.DOTALL else ANY & ~(1 << ord("\n"))
        elif kind == "IN":
            chars = _members(value, flags)
        else:
            chars = _bits((value,), flags)
            if kind == "NOT_LITERAL":
                chars = (_ASCII & ~chars) | _BEYOND
        compiled = self._compiled(name, value, flags)
        made = self._known[written] = One(chars, written, lambda: compiled().fullmatch)
        return made

    def _compiled(self, name: Any, value: Any, flags: int) -> Callable[[], re.Pattern[str]]:
        def compiled() -> re.Pattern[str]:
            alone = _parser.SubPattern(self._state, [(name, value)])
            made: re.Pattern[str] = _compiler.compile(alone, flags)
            return made

        return compiled


def _members(items: Iterable[Any], flags: int) -> int:
    chars = 0
    turned = False
    # Of what lies beyond ASCII, only that all blanks are in, or all others, says what is out.
    whole = 0
    for name, value in items:
        kind = str(name)
        if kind == "NEGATE":
            turned = True
        elif kind == "LITERAL":
            chars |= _bits((value,), flags)
        elif kind == "RANGE":
            chars |= _bits(range(value[0], min(value[1], 127) + 1), flags)
            chars |= _BEYOND if value[1] > 127 else 0
        else:
            category = str(value).removeprefix("CATEGORY_").replace("UNI_", "")
            chars |= _CATEGORIES[category]
            if not flags & re.ASCII:
                whole |= {"SPACE": BLANK, "NOT_SPACE": OTHER}.get(category, 0)
    return (_ASCII & ~chars) | (_BEYOND & ~whole) if turned else chars


def _bits(codes: Iterable[int], flags: int) -> int:
    chars = 0
    for code in codes:
        char = chr(code)
        both = (char, char.lower(), char.upper()) if flags & re.IGNORECASE else (char,)
        for each in both:
            beyond = BLANK if char.isspace() else OTHER
            chars |= 1 << ord(each) if len(each) == 1 and each.isascii() else beyond
        if flags & re.IGNORECASE and char in _WIDE:
            chars |= OTHER
    return chars


def only(char: str) -> One:
    """A node for just this character."""
    return One(_bits((ord(char),), 0), f"only {char}", lambda: char.__eq__)
