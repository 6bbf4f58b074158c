"""Finds the files of all places, matched by patterns; a folder is listed once it has changed."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from itertools import islice
from typing import Final, NamedTuple

from watchgate.agents.usage import UsageForm, UsagePlace

PatternState = frozenset[tuple[int, int]]
"""The places of a folder in patterns: the number of each, and of its part."""

ANY_DEPTH: Final = "**"


class PlacePatterns:
    """The patterns of one root, as `pathlib.Path.glob` takes them."""

    def __init__(self, places: Iterable[UsagePlace]) -> None:
        split_places = [(place.form, place.pattern.split("/")) for place in places]
        self._forms = [form for form, _parts in split_places]
        self._parts = [
            [None if part == ANY_DEPTH else re.compile(translate(part)).match for part in parts]
            for _form, parts in split_places
        ]
        self.root = self._closed((number, 0) for number in range(len(split_places)))

    def below(self, state: PatternState, folder: str) -> PatternState:
        """Returns the state of a folder in one with this state; empty: nothing can be in it."""
        states = []
        for number, at in state:
            part = self._parts[number][at]
            if part is None:
                states.append((number, at))
            elif at + 1 < len(self._parts[number]) and part(folder):
                states.append((number, at + 1))
        return self._closed(states)

    def form(self, state: PatternState, file: str) -> UsageForm | None:
        """Returns the form of a file in a folder with this state; None: it is no agent's."""
        for number, at in sorted(state):
            parts = self._parts[number]
            part = parts[at]
            if part is not None and at + 1 == len(parts) and part(file):
                return self._forms[number]
        return None

    def _closed(self, states: Iterable[tuple[int, int]]) -> PatternState:
        """Adds the states that a part for any depth leads to, being no depth at all."""
        reached = set()
        for number, start in states:
            at = start
            reached.add((number, at))
            while self._parts[number][at] is None:
                at += 1
                reached.add((number, at))
        return frozenset(reached)


HOT = 64
"""So many folders are looked at each time: the roots, and those that changed last."""
ROUND = 256
"""And so many of all others, in turn."""


class UsageFile(NamedTuple):
    """A file that belongs to an agent."""

    path: str
    agent: str
    form: UsageForm


class _Folder:
    __slots__ = ("agent", "files", "folders", "mtime_ns", "path", "patterns", "settled", "state")

    def __init__(self, path: str, agent: str, patterns: PlacePatterns, state: PatternState) -> None:
        self.path, self.agent, self.patterns, self.state = path, agent, patterns, state
        self.mtime_ns = -1
        self.settled = False
        self.files: frozenset[str] = frozenset()
        self.folders: frozenset[str] = frozenset()


class FileScan:
    """Remembers each folder with its time of change; below a root no link is followed.

    `unreadable` are the paths of folders that this user cannot list.
    """

    def __init__(self, places: Sequence[UsagePlace]) -> None:
        self._folders: dict[str, _Folder] = {}
        self._roots: list[_Folder] = []
        self._hot: dict[str, None] = {}
        self._turn: Iterator[str] = iter(())
        self.unreadable: set[str] = set()
        self.add(places)

    def add(self, places: Iterable[UsagePlace]) -> None:
        """Adds places to look in."""
        together: dict[tuple[str, str], list[UsagePlace]] = {}
        for place in places:
            together.setdefault((place.agent, os.path.realpath(place.root)), []).append(place)
        for (agent, root), of_root in together.items():
            if root not in self._folders:
                patterns = PlacePatterns(dict.fromkeys(of_root))
                folder = _Folder(root, agent, patterns, patterns.root)
                self._folders[root] = folder
                self._roots.append(folder)

    def look(self, *, everywhere: bool = False) -> tuple[list[UsageFile], list[str]]:
        """Returns the files that are new since the last look, and the paths of those now gone."""
        new: list[UsageFile] = []
        gone: list[str] = []
        waiting = [folder.path for folder in self._roots]
        waiting += list(self._folders) if everywhere else [*self._hot, *self._some()]
        for path in dict.fromkeys(waiting):
            if (folder := self._folders.get(path)) is not None:
                self._look(folder, new, gone)
        return new, gone

    def _some(self) -> list[str]:
        batch = list(islice(self._turn, ROUND))
        if not batch:
            self._turn = iter(list(self._folders))
            batch = list(islice(self._turn, ROUND))
        return batch

    def _look(self, folder: _Folder, new: list[UsageFile], gone: list[str]) -> None:
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            try:
                mtime_ns = os.stat(folder.path).st_mtime_ns  # noqa: PTH116 - hundreds each second
            except (OSError, ValueError):
                self._drop(folder, gone)
                continue
            if mtime_ns == folder.mtime_ns and folder.settled:
                continue
            # Twice the same time before it is believed: the clock of a disk has coarse steps.
            folder.settled = mtime_ns == folder.mtime_ns
            folder.mtime_ns = mtime_ns
            waiting += self._list(folder, new, gone)

    def _list(self, folder: _Folder, new: list[UsageFile], gone: list[str]) -> list[_Folder]:
        """Lists a folder; returns the folders in it that are new."""
        files, folders = {}, {}
        patterns, state = folder.patterns, folder.state
        try:
            with os.scandir(folder.path) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        if below := patterns.below(state, entry.name):
                            folders[entry.path] = below
                    elif form := patterns.form(state, entry.name):
                        files[entry.path] = form
        except OSError:
            self.unreadable.add(folder.path)
            return []
        self.unreadable.discard(folder.path)
        self._warm(folder)
        new += [
            UsageFile(p, folder.agent, form) for p, form in files.items() if p not in folder.files
        ]
        gone += folder.files - files.keys()
        for path in folder.folders - folders.keys():
            if (lost := self._folders.get(path)) is not None:
                self._drop(lost, gone)
        fresh = [
            _Folder(path, folder.agent, patterns, below)
            for path, below in folders.items()
            if path not in self._folders
        ]
        self._folders |= {each.path: each for each in fresh}
        folder.files, folder.folders = frozenset(files), frozenset(folders)
        return fresh

    def _warm(self, folder: _Folder) -> None:
        self._hot.pop(folder.path, None)
        self._hot[folder.path] = None
        if len(self._hot) > HOT:
            del self._hot[next(iter(self._hot))]

    def _drop(self, folder: _Folder, gone: list[str]) -> None:
        waiting = [folder]
        while waiting:
            lost = waiting.pop()
            gone += lost.files
            waiting += [below for path in lost.folders if (below := self._folders.get(path))]
            lost.files, lost.folders, lost.mtime_ns = frozenset(), frozenset(), -1
            lost.settled = False
            self.unreadable.discard(lost.path)
            if lost not in self._roots:
                self._folders.pop(lost.path, None)
                self._hot.pop(lost.path, None)
