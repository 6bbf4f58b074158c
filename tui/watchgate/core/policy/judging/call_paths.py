"""Paths that a call names: places that a reading tool looks at, and what to look at on disk.

`paths_named` gives each path with the folders that it may be meant in. They are the paths that
rules are compared with, so that what a link leads to is asked of each.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.policy.judging.folders import Folders, place_started_in
from watchgate.core.policy.matching.touches import touches
from watchgate.core.tools import tool_input

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


_HOMES = ("~", "$HOME", "${HOME}")
_HERE = ("$PWD", "${PWD}")


def paths_named(tool: Tool, cwd: str, home: str) -> Iterator[str]:
    """Yields absolute paths as written, with each `..`; none where the folder is not known.

    One that starts with a variable is left out: nobody knows where it leads.
    """
    if not cwd.startswith("/"):
        return
    if tool.cls != "shell":
        paths = tool_input.paths(tool)
        if tool.cls == "read":
            paths = places_named(tool, paths) or (".",)
        yield from _absolute(paths, [cwd], home)
        return
    place = Place(cwd, home, posixpath.normpath(cwd))
    folders = Folders(place_started_in(place, tool_input.folder(tool)) or place)
    text = tool_input.command(tool) or ""
    for command in commands_of(tool, text).commands:
        here = [place.cwd for place in folders.before(command)]
        yield from _absolute((touch.path for touch in touches(command)), here, home)
        values = (word.text.partition("=")[2] for word in command.assignments)
        yield from _absolute(
            (each for value in values for each in value.split(":") if each), here, home
        )
        folders.after(command)


def _absolute(paths: Iterable[str], folders: Sequence[str], home: str) -> Iterator[str]:
    for path in paths:
        if path.startswith("/"):
            yield path
        elif path.startswith(("~", "$")):
            name, slash, rest = path.partition("/")
            tops = [home] if name in _HOMES else folders if name in _HERE else []
            yield from (f"{top}{slash}{rest}" for top in tops if top)
        else:
            yield from (posixpath.join(folder, path) for folder in folders)
