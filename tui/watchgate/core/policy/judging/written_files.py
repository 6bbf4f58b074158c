"""Files that a session has written or asked to write, so that running them runs its code.

An installer runs code that a manifest names, and a shell may source any file. So the paths that the
edits and the commands of a session write are remembered, whatever became of the call: a denied one
costs a question too many, a forgotten one would run unasked. Files that a program writes without
naming them (an archive, a patch, a generator) are not known.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

from watchgate.core.base.bounded import Recent
from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.inputs.subject import EVERYTHING, Subject
from watchgate.core.policy.judging.command_finder import commands_of
from watchgate.core.policy.judging.folders import Folders, place_started_in
from watchgate.core.policy.matching.touches import COPIERS, MOVERS, Touch, touches
from watchgate.core.policy.shell.commands import Command
from watchgate.core.tools import tool_input

# A session that ended may be resumed under its name, so only newer ones push it out.
_MAX_SESSIONS = 1_000


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
        self._sessions: Recent[tuple[str, str], frozenset[str]] = Recent(_MAX_SESSIONS)

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
