"""Finds the files of all places, matched by patterns; a folder is listed once it has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from watchgate.agents.usage.base import Form, Place
from watchgate.service.usage.pattern import Patterns, State

HOT = 64
"""So many folders are looked at each time: the roots, and those that changed last."""
ROUND = 256
"""And so many of all others, in turn."""


class Found(NamedTuple):
    """A file that belongs to an agent."""

    path: str
    agent: str
    form: Form


class _Folder:
    __slots__ = ("agent", "files", "folders", "mtime_ns", "path", "patterns", "settled", "state")

    def __init__(self, path: str, agent: str, patterns: Patterns, state: State) -> None:
        self.path, self.agent, self.patterns, self.state = path, agent, patterns, state
        self.mtime_ns = -1
        self.settled = False
        self.files: frozenset[str] = frozenset()
        self.folders: frozenset[str] = frozenset()


class Scan:
    """Remembers each folder with its time of change; below a root no link is followed.

    `unreadable` are the paths of folders that this user cannot list.
    """

    def __init__(self, places: Sequence[Place]) -> None:
        self._folders: dict[str, _Folder] = {}
        self._roots: list[_Folder] = []
        self._hot: dict[str, None] = {}
        self._turn: Iterator[str] = iter(())
        self.unreadable: set[str] = set()
        self.add(places)

    def add(self, places: Iterable[Place]) -> None:
        """Adds places to look in."""
        together: dict[tuple[str, str], list[Place]] = {}
        for place in places:
            together.setdefault((place.agent, os.path.realpath(place.root)), []).append(place)
        for (agent, root), of_root in together.items():
            if root not in self._folders:
                patterns = Patterns(dict.fromkeys(of_root))
                folder = _Folder(root, agent, patterns, patterns.root)
                self._folders[root] = folder
                self._roots.append(folder)

    def look(self, *, everywhere: bool = False) -> tuple[list[Found], list[str]]:
        """Returns the files that are new since the last look, and the paths of those now gone."""
        new: list[Found] = []
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

    def _look(self, folder: _Folder, new: list[Found], gone: list[str]) -> None:
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

    def _list(self, folder: _Folder, new: list[Found], gone: list[str]) -> list[_Folder]:
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
        new += [Found(p, folder.agent, form) for p, form in files.items() if p not in folder.files]
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
