"""What the names and expressions of a piece of Python may stand for.

Nothing is run: a value is a set of alternatives, each of which is known, partly known, or plain
data that cannot do anything by itself.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from watchgate.core.policy.code.reading import UNKNOWN_TEXT, Piece, Unknown

MAX_ALTERNATIVES: Final = 8


class Unread(Exception):
    """Some of the code is not understood; the message says what."""


class Const(msgspec.Struct, frozen=True):
    """A constant."""

    value: str | bytes | float | int | bool | None


class Text(msgspec.Struct, frozen=True):
    """A text of which a part is known; `UNKNOWN_TEXT` stands for the others."""

    text: str = UNKNOWN_TEXT


class Seq(msgspec.Struct, frozen=True):
    """A list or tuple of so many items."""

    items: tuple[Values, ...]


class Many(msgspec.Struct, frozen=True):
    """A collection of any number of items, each of which is one of these; or an iterator."""

    items: Values


class Rest(msgspec.Struct, frozen=True):
    """Any number of items within a `Seq`, each of which is one of these."""

    items: Values


class Ref(msgspec.Struct, frozen=True):
    """A module, or a function or class of one, by its dotted name."""

    name: str


class Obj(msgspec.Struct, frozen=True):
    """An object of a followed class; `piece` is the path or address that it stands for."""

    kind: str
    piece: Piece = ""


class Local(msgspec.Struct, frozen=True):
    """A function or class that the code defines, by its number."""

    number: int


class Plain(msgspec.Struct, frozen=True):
    """Data of which nothing is known but that it does nothing."""


class Foreign(msgspec.Struct, frozen=True):
    """Something of a module that is no part of Python."""

    name: str


Value = Const | Text | Seq | Many | Rest | Ref | Obj | Local | Plain | Foreign
Values = tuple[Value, ...]

PLAIN: Final[Values] = (Plain(),)


def merged(values: Iterable[Value]) -> Values:
    """The values, each once; where there are many constants, one of them that is not known."""
    found = tuple(dict.fromkeys(map(_typed, values)))
    if len(found) <= MAX_ALTERNATIVES:
        return tuple(value for _, value in found)
    others = [value for _, value in found if not isinstance(value, Const | Text)]
    if len(others) > MAX_ALTERNATIVES:
        raise Unread("gives a name more meanings than anybody follows")
    return (*others, Text())


def _typed(value: Value) -> tuple[str, Value]:
    # To Python, True, 1 and 1.0 are the same key.
    return (type(value.value).__name__ if isinstance(value, Const) else "", value)


def items_of(values: Values) -> Values:
    """What a loop over these gets."""
    return merged(item for value in values for item in _items(value))


def _items(value: Value) -> Iterator[Value]:
    match value:
        case Seq(items=items):
            for item in items:
                for each in item:
                    yield from each.items if isinstance(each, Rest) else (each,)
        case Many(items=items):
            yield from items
        case Foreign():
            yield value
        case Const(value=str()) | Text():
            yield Text()
        case Const() | Plain() | Obj(kind="file"):
            yield Plain()
        case _:
            raise Unread("goes over something that is not followed")


def pieces(values: Values) -> tuple[Piece, ...]:
    """The words that a value may be where a path, an address or an argument is wanted."""
    return tuple(dict.fromkeys(map(_piece, values)))


def _piece(value: Value) -> Piece:
    match value:
        case Const(value=constant):
            return _constant(constant)
        case Text(text=text):
            return Unknown(text)
        case Obj(piece=piece):
            return piece
        case Ref(name="sys.executable"):
            return "python3"
        case Ref(name=name) if name.startswith("signal.SIG"):
            return name.removeprefix("signal.SIG")
        case _:
            return Unknown(many=isinstance(value, Rest))


def _constant(value: str | bytes | float | bool | None) -> Piece:
    match value:
        case str():
            return value
        case bytes():
            return value.decode("utf-8", "replace")
        case bool() | None:
            return Unknown()
        case _:
            return str(value)


def joined(first: Piece, second: Piece, sign: str = "") -> Piece:
    """Two words as one."""
    text = shown_text(first) + sign + shown_text(second)
    known = isinstance(first, str) and isinstance(second, str)
    return text if known else Unknown(text)


def path_joined(folder: Piece, name: Piece) -> Piece:
    """A name in a folder, as `os.path.join` has it."""
    text = posixpath.join(shown_text(folder), shown_text(name))
    return text if isinstance(folder, str) and isinstance(name, str) else Unknown(text)


def text_of(piece: Piece) -> Value:
    """A word as a text."""
    return Const(piece) if isinstance(piece, str) else Text(piece.text)


def shown_text(piece: Piece) -> str:
    """The text that stands for a word."""
    return piece if isinstance(piece, str) else piece.text
