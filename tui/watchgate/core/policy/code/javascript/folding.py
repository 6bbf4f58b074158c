"""The texts that harmless functions make of known ones."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from watchgate.core.policy.code.javascript.acting import HOME
from watchgate.core.policy.code.javascript.values import (
    DATA,
    JSON,
    NUMBER,
    Texts,
    Value,
    joined,
    texts,
)

_FIXED: dict[str, Value] = {
    "process.cwd": texts("."),
    "Deno.cwd": texts("."),
    "os.homedir": texts(HOME),
    "os.tmpdir": texts("/tmp"),
}


def joined_items(values: Sequence[Value], signs: Sequence[Value]) -> Value:
    """The text that `join` makes of a list."""
    parts: list[Value] = []
    for value in values:
        parts += [*([signs[0] if signs else texts(",")] if parts else []), value]
    return joined(parts)


def folded(path: str, values: Sequence[Value]) -> Value:
    """The text that a harmless function makes of known ones."""
    if path in _FIXED:
        return _FIXED[path]
    if path in ("path.join", "path.resolve", "path.posix.join") and values:
        return _path(values, resolves=path == "path.resolve")
    if path == "JSON.parse" and len(values) == 1:
        return JSON
    if path.startswith(("Math.", "parse", "Date.now")) or path == "Number":
        return NUMBER
    if path in ("String", "path.normalize"):
        return values[0] if values and isinstance(values[0], Texts) else DATA
    return DATA


def _path(values: Sequence[Value], *, resolves: bool) -> Value:
    parts: list[Value] = []
    for value in values:
        is_absolute = isinstance(value, Texts) and value.options[0].startswith("/")
        if resolves and is_absolute and parts:
            return DATA
        parts += [*([texts("/")] if parts else []), value]
    whole = joined(parts)
    return texts(*map(posixpath.normpath, whole.options)) if isinstance(whole, Texts) else whole
