"""Working folders: those in which each command of a text may run, by `cd` and the shell's rules.

A `cd` may fail. What it is joined to by `&&` then does not run, and all that follows runs where it
would have run without; so behind it there is more than one folder.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.policy.inputs.places import Place
from watchgate.core.policy.shell.commands import Command

# No system takes a longer folder, and every path in it would be worked out in full.
MAX_FOLDER_CHARS = 1_024

# As many as two that fail one after the other make; rules are held against commands in each.
_MAX_FOLDERS = 4

_GO = frozenset(("cd", "pushd", "chdir"))
_GO_BACK = frozenset(("popd",))
# Whatever else is given may make it stay, or go elsewhere.
_PLAIN = frozenset(("-L", "-P", "--"))


def folder_gone_to(command: Command) -> str:
    """Returns the folder that a command changes to, as written; empty where it names none."""
    if command.program not in _GO:
        return ""
    named = [word.text for word in command.arguments if not word.text.startswith("-")]
    if named:
        return named[0]
    return "" if any(word.text == "-" for word in command.arguments) else "~"


def place_started_in(place: Place, folder: str | None) -> Place | None:
    """Returns the place in the folder that a call names; None for one that is not followed.

    `folder` is the value of `tool_input.folder`.
    """
    if folder == "":
        return place
    start = "" if folder is None else place.resolve(folder)
    if not start.startswith("/") or "$" in start or len(start) > MAX_FOLDER_CHARS:
        return None
    return msgspec.structs.replace(place, cwd=start)


class Folders:
    """Follows the working folder over all commands of a text, which are given in their order.

    `opaque` says that one is too long to follow, `lost` that there were more than are followed.
    """

    def __init__(self, place: Place) -> None:
        self.opaque = False
        self.lost = False
        self._start = place
        self._places: dict[str, Place] = {}
        self._begins = False
        self._frames = [_Frame((), (place.cwd,), (place.cwd,), "")]

    def before(self, command: Command) -> list[Place]:
        """Returns the folders that a command may run in, first where all before it succeeds."""
        while not _starts(self._frames[-1].scope, command.scope):
            self._leave(self._frames.pop())
        top = self._frames[-1]
        if command.joined != "&&":
            top.now = top.all
        if not command.joined:
            top.moved = ()
        joined = command.joined
        self._begins = len(command.scope) > len(top.scope)
        for end in range(len(top.scope) + 1, len(command.scope) + 1):
            self._frames.append(_Frame(command.scope[:end], top.now, top.now, joined))
            joined = ""
        return [self._place(folder) for folder in self._frames[-1].now]

    def after(self, command: Command) -> None:
        """Applies a command's change of folder; one only known at run time changes nothing."""
        top = self._frames[-1]
        if _surely_exits(command):
            top.ends = top.ends or self._begins or not command.joined
            if command.joined == "||" and top.moved:
                top.now = top.all = top.moved
        to = folder_gone_to(command)
        if not to:
            if command.program in _GO or command.program in _GO_BACK:
                top.now = top.all
            return
        moved = [self._place(folder).resolve(to) for folder in top.now]
        if any(len(folder) > MAX_FOLDER_CHARS for folder in moved):
            self.opaque = True
        elif all("$" not in folder and folder.startswith("/") for folder in moved):
            top.now = top.moved = self._first(moved)
            top.all = self._first((*moved, *top.all))
            if command.joined == "||" or not _goes_plainly(command):
                top.now, top.moved = top.all, ()

    def _leave(self, frame: _Frame) -> None:
        """Ends a group or subshell: a group's changes of the folder last, a subshell's do not."""
        if frame.scope[-1] > 0:
            return
        top = self._frames[-1]
        if frame.ends and frame.joined == "||" and top.moved:
            top.now = top.all = top.moved
            return
        top.now = self._first((*frame.all, *top.now))
        top.all = self._first((*frame.all, *top.all))

    def _first(self, folders: Iterable[str]) -> tuple[str, ...]:
        distinct = tuple(dict.fromkeys(folders))
        self.lost = self.lost or len(distinct) > _MAX_FOLDERS
        return distinct[:_MAX_FOLDERS]

    def _place(self, folder: str) -> Place:
        place = self._places.get(folder)
        if place is None:
            place = self._places[folder] = cached_place(self._start, folder)
        return place


class _Frame(msgspec.Struct):
    """A part of the text with a folder of its own.

    `now` are the folders that the next command of a list may run in, `all` those of the next list,
    `moved` where the list has gone; `ends` says that it leaves the shell, `joined` how it began.
    """

    scope: tuple[int, ...]
    now: tuple[str, ...]
    all: tuple[str, ...]
    joined: str
    moved: tuple[str, ...] = ()
    ends: bool = False


class _Known(Place, frozen=True, gc=False):
    """A place that resolves each path once: wrappers show the same words many times."""

    resolved: dict[str, str] = msgspec.field(default_factory=dict)

    def resolve(self, path: str) -> str:
        resolved = self.resolved.get(path)
        if resolved is None:
            resolved = self.resolved[path] = Place.resolve(self, path)
        return resolved


def cached_place(place: Place, folder: str) -> Place:
    """Returns the place moved to this folder, with a cache of resolved paths."""
    return _Known(place.session, place.home, folder, place.own, place.links, place.changed)


def _goes_plainly(command: Command) -> bool:
    texts = [word.text for word in command.arguments]
    return all(text in _PLAIN or text[:1] not in ("-", "+") for text in texts)


def _surely_exits(command: Command) -> bool:
    """Returns whether the shell ends here: with other words or a redirect it may refuse to."""
    if command.program != "exit" or command.redirects:
        return False
    texts = [word.text for word in command.arguments]
    return not texts or (len(texts) == 1 and texts[0].isdigit())


def _starts(scope: tuple[int, ...], of: tuple[int, ...]) -> bool:
    return of[: len(scope)] == scope
