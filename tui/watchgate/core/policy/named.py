"""Paths that a call names, with the folders they may be meant in: what to look at on disk.

The paths are those that rules are held against, so that what a link leads to is asked of each.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Sequence

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.policy.folders import Folders, started_in
from watchgate.core.policy.matching.named import places_named
from watchgate.core.policy.matching.touches import touches
from watchgate.core.policy.places import Place
from watchgate.core.policy.tool_commands import commands_of

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
    folders = Folders(started_in(place, tool_input.folder(tool)) or place)
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
