"""Values in code as a reader knows them: a text, a list, a name of the runtime, or only data."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import product
from math import prod
from typing import Literal

import msgspec

from watchgate.core.policy.code.code_reading import UNKNOWN_TEXT, Argv, UnknownWord, UnreadCode

MAX_TEXTS = 16
_MAX_SHOWN = 200
_REPEATED = re.compile(r"(?:\$\(\.\.\.\)){2,}")


class Data(msgspec.Struct, frozen=True):
    """Something that was computed or read, and that nothing here may call.

    A `number` and what is `plain`, such as a text, is no function; an `object` stands in the code
    with what it holds, and `json` holds nothing but such data at any depth. `text` shows what is
    known of a text, with `UNKNOWN_TEXT` for each part that is not.
    """

    kind: Literal["", "number", "plain", "object", "json"] = ""
    text: str = UNKNOWN_TEXT


class Function(msgspec.Struct, frozen=True):
    """A function whose body stands in the code and is read, or a harmless one of the runtime."""

    own: bool = True


class Texts(msgspec.Struct, frozen=True):
    """One of these texts."""

    options: tuple[str, ...]


class Items(msgspec.Struct, frozen=True):
    """A list of known length."""

    values: tuple[Value, ...]


class Name(msgspec.Struct, frozen=True):
    """Something of the runtime or of a module, by its dotted name such as `fs.rmSync`."""

    path: str


Value = Data | Function | Texts | Items | Name

DATA = Data()
NUMBER = Data("number")
PLAIN = Data("plain")
OBJECT = Data("object")
JSON = Data("json")
FUNCTION = Function()
HARMLESS = Function(own=False)


def texts(*options: str) -> Value:
    """The texts as a value, or mere data where they are too many."""
    unique = tuple(dict.fromkeys(options))
    return Texts(unique) if 0 < len(unique) <= MAX_TEXTS else PLAIN


def either(values: Iterable[Value]) -> Value:
    """A value that is one of these."""
    options = tuple(dict.fromkeys(values))
    if len(options) < 2:
        return options[0] if options else DATA
    if any(isinstance(value, Name) for value in options):
        raise UnreadCode("gives one name to several things")
    known = [value for value in options if isinstance(value, Texts)]
    if len(known) == len(options):
        return texts(*(text for value in known for text in value.options))
    if all(map(_is_number, options)):
        return NUMBER
    return PLAIN if all(map(is_plain, options)) else DATA


def is_plain(value: Value) -> bool:
    """Tells whether a value is surely no function, nor leads to one."""
    return isinstance(value, Texts) or (
        isinstance(value, Data) and value.kind in ("number", "plain")
    )


def _is_number(value: Value) -> bool:
    if isinstance(value, Texts):
        return all(option.isdecimal() for option in value.options)
    return value == NUMBER


def joined(parts: Iterable[Value]) -> Value:
    """The text, or one of the texts, that these make when put together."""
    values = list(parts)
    lines = combinations(values)
    if all(isinstance(word, str) for word in lines[0]):
        return texts(*("".join(map(str, line)) for line in lines))
    shown = "".join(map(_shown, values))
    return Data("plain", _REPEATED.sub(UNKNOWN_TEXT, shown[:_MAX_SHOWN]))


def combinations(parts: Iterable[Value]) -> list[Argv]:
    """Returns every argument list that these values may form; too many become unknown words."""
    choices: list[tuple[str | UnknownWord, ...]] = [
        part.options if isinstance(part, Texts) else (UnknownWord(_shown(part)),) for part in parts
    ]
    if prod(map(len, choices)) > MAX_TEXTS:
        choices = [options if len(options) == 1 else (UnknownWord(),) for options in choices]
    return list(product(*choices))


def _shown(value: Value) -> str:
    if isinstance(value, Texts) and len(value.options) == 1:
        return value.options[0]
    return value.text if isinstance(value, Data) else UNKNOWN_TEXT


def each_of(value: Value) -> Value:
    """One of the things that a list holds."""
    return either(map(rest_of, value.values)) if isinstance(value, Items) else DATA


def is_known(value: Value) -> bool:
    """Tells whether a value is no function that only the run shows."""
    return is_plain(value) or isinstance(value, Items | Function) or value in (OBJECT, JSON)


def rest_of(value: Value) -> Value:
    """The value, without what is known of a list."""
    return DATA if isinstance(value, Items) else value
