"""Files that a session has written or asked to write, so that running them runs its code.

An installer runs code that a manifest names, and a shell may source any file. So the paths that the
edits and the commands of a session write are remembered, whatever became of the call: a denied one
costs a question too many, a forgotten one would run unasked. Files that a program writes without
naming them (an archive, a patch, a generator) are not known.

Places that a reading tool may look at: its paths, and other texts that lead elsewhere.

Paths that a call names, with the folders they may be meant in: what to look at on disk.

The paths are those that rules are held against, so that what a link leads to is asked of each.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from watchgate.core.base.bounded import Recent
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.subject import EVERYTHING, Subject
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.policy.judging.folders import Folders, place_started_in
from watchgate.core.policy.matching.touches import COPIERS, MOVERS, Touch, touches
from watchgate.core.policy.shell.commands import Command
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


# A session that ended may be resumed under its name, so only newer ones push it out.
_SESSIONS_KEPT = 1_000
_FILES_A_SESSION = 1_000
_TEXTS = tool_input.EDIT_KEYS - tool_input.PATH_KEYS.keys()
_FOLDERS_A_COPY = 8
# They make programs of sources, as every build does; only -E and -S give them a text.
_COMPILERS = frozenset(
    ("gcc", "g++", "cc", "c++", "clang", "clang++", "rustc", "ld", "go", "javac")
)
# They make a file or a folder, or give it rights, and put nothing into it.
_FILL_NOTHING = frozenset(("chmod", "chown", "chgrp", "setfacl", "setcap", "touch", "mkdir"))
# They change a manifest without naming it.
_CHANGE_A_MANIFEST = {
    ("npm", "pkg"): "package.json",
    ("pnpm", "pkg"): "package.json",
    ("npm", "set-script"): "package.json",
}


class ChangedFiles:
    """The absolute paths that each session has changed, by agent and session."""

    def __init__(self) -> None:
        self._sessions: Recent[tuple[str, str], frozenset[str]] = Recent(_SESSIONS_KEPT)

    def of(self, agent: str, session: str) -> frozenset[str]:
        """Returns the paths that a session has changed."""
        return self._sessions.get((agent, session), frozenset())

    def note(self, subject: Subject) -> None:
        """Remembers what a call writes; of more files than are kept, all count as changed."""
        key = subject.agent, subject.session
        known = self.of(*key)
        written = changed_paths(subject)
        if not written <= known:
            known |= written
            if len(known) > _FILES_A_SESSION:
                known = EVERYTHING
            self._sessions.renew(key, known)


def changed_paths(subject: Subject) -> frozenset[str]:
    """Returns the absolute paths that a call writes."""
    tool, cwd = subject.tool, subject.cwd
    place = Place(cwd, subject.home, cwd, links=subject.links)
    if tool.cls == "shell":
        text = tool_input.command(tool)
        start = place_started_in(place, tool_input.folder(tool)) or place
        if text is None:
            return frozenset()
        return written_paths(commands_of(tool, text).commands, start)
    # A tool of unknown making that is given a text and a path is taken to write it there.
    gives = tool.cls in ("mcp", "other") and not _TEXTS.isdisjoint(tool.input)
    if tool.cls != "edit" and not gives:
        return frozenset()
    return frozenset(_resolved(place, tool_input.paths(tool)))


def written_paths(commands: Iterable[Command], start: Place) -> frozenset[str]:
    """Returns the absolute paths that commands write, run one after the other from a place."""
    names_written = [(command, _names_written(command)) for command in commands]
    if not any(names for _, names in names_written):
        return frozenset()
    paths: set[str] = set()
    folders = Folders(start)
    for command, names in names_written:
        for place in folders.before(command):
            paths.update(_resolved(place, names))
        folders.after(command)
    return frozenset(paths)


def _resolved(place: Place, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield place.resolve(name)
        yield from place.leads_to(name)


def _names_written(command: Command) -> list[str]:
    """Returns the paths that a command writes, as named; for a target folder, what lands in it."""
    touched = touches(command) if command.words or command.redirects else ()
    filled = [touch for touch in touched if touch.kind == "write"]
    if command.program in _FILL_NOTHING or _compiles(command):
        targets = [redirect.target for redirect in command.redirects]
        filled = [touch for touch in filled if touch.word in targets]
    names = [touch.path for touch in filled]
    if names and command.program in (COPIERS | MOVERS):
        folders = names[:_FOLDERS_A_COPY]
        names += [f"{folder}/{_last(touch)}" for folder in folders for touch in touched]
    first = command.arguments[0].text if command.arguments else ""
    if manifest := _CHANGE_A_MANIFEST.get((command.program, first)):
        names.append(manifest)
    return names


def _compiles(command: Command) -> bool:
    options = {word.text for word in command.arguments}
    return command.program in _COMPILERS and options.isdisjoint(("-E", "-S"))


def _last(touch: Touch) -> str:
    return posixpath.basename(touch.path.rstrip("/"))
