"""Values as they are written in TOML: what is read again is what was meant, and can be seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, time
from typing import Final

import msgspec

from watchgate.core.text import hidden_spans

_BARE: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")


def toml_value(value: object) -> str:
    """A value in TOML, on one line; raises `TypeError` or `ValueError` where it has none there."""
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, Mapping):
        pairs = ", ".join(toml_pair((str(name),), each) for name, each in value.items())
        return f"{{ {pairs} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, date | time):
        return value.isoformat()
    raise TypeError(f"TOML has no {type(value).__name__}")


def toml_pair(path: Iterable[str], value: object) -> str:
    """A dotted key and its value."""
    return f"{toml_key(path)} = {toml_value(value)}"


def toml_key(path: Iterable[str]) -> str:
    """A dotted key, its parts in quotes where they need some."""
    return ".".join(part if part and _BARE.issuperset(part) else _quoted(part) for part in path)


def _quoted(text: str) -> str:
    """A text of JSON, which is one of TOML once nothing that cannot be seen stands bare in it."""
    bare, done = msgspec.json.encode(text).decode(), 0
    parts = []
    for start, end in hidden_spans(bare):
        code = ord(bare[start])
        parts += [bare[done:start], f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"]
        done = end
    return "".join([*parts, bare[done:]])
