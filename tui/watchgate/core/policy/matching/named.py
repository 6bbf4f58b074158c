"""Places that a reading tool may look at: its paths, and other texts that lead elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterator

from watchgate.core.events import Tool

# What is looked for, and not where; a tool that looks for names is told both at once.
_SOUGHT = frozenset(("pattern", "query", "regex", "content", "prompt", "description"))
_FINDS_NAMES = re.compile(r"glob|find_|find$", re.IGNORECASE)
_GLOBS = frozenset(("glob", "include", "includes", "include_pattern", "file_pattern", "globs"))
_LEADS_AWAY = re.compile(r"[/~$]|\.\.(?:[/\\]|$)|[a-z][a-z0-9+.-]{0,63}://", re.IGNORECASE)
_CLIMBS = re.compile(r"[/\\]\.\.(?:[/\\]|$)")
_SCHEME = re.compile(r"(?:file:/*(?=/)|[a-z][a-z0-9+.-]{0,63}:(?=//))", re.IGNORECASE)
_CHOICES = re.compile(r"[{},\n]")


def places_named(tool: Tool, paths: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the paths, and every other text of the input that may be one leading elsewhere.

    The policy does not know every agent's names for them; a text that names a place counts.
    """
    places = [_path(path) for path in paths]
    for key, text in _texts(tool.input, ""):
        if key in _SOUGHT and not _FINDS_NAMES.search(tool.name):
            continue
        places += [
            _path(part)
            for part in map(str.strip, _CHOICES.split(text))
            if key in _GLOBS or _LEADS_AWAY.match(part) or _CLIMBS.search(part)
        ]
    return tuple(dict.fromkeys(path for path in places if path))


def _path(text: str) -> str:
    """Returns the path that a text names; an address becomes one outside of every folder."""
    return _SCHEME.sub("", text.strip(), count=1)


def _texts(value: object, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, inner in value.items():
            yield from _texts(inner, str(name))
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, key)
