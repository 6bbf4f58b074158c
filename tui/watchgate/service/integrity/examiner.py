"""Looks at every file that the gate rests on; reads one only when its stamp has changed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.records import TamperedData
from watchgate.service.integrity.alarms import Key
from watchgate.service.integrity.findings import (
    Judge,
    client_judge,
    first_of,
    hooks_judge,
    silencer_judge,
)
from watchgate.service.integrity.manifest import Entry
from watchgate.service.setup.targets import home as home_of
from watchgate.service.setup.targets import setup_of

READ_BYTES = 16 * 1024 * 1024


class _Stamp(msgspec.Struct, frozen=True):
    """What tells one state of a file from another; its times can be set, when it changed cannot."""

    ctime_ns: int
    mtime_ns: int
    size_bytes: int
    inode: int
    mode: int


class Examiner:
    """Knows the files of some entries; every method may run in a thread, one at a time."""

    def __init__(self, adapters: Mapping[str, Adapter], env: Mapping[str, str]) -> None:
        self._adapters = adapters
        self._env = env
        self._home = env.get("HOME", "")
        self._judges: dict[Key, tuple[str, Judge]] = {}
        self._seen: dict[Key, tuple[_Stamp | None, TamperedData | None]] = {}

    def watch(self, entries: Iterable[Entry]) -> None:
        """Look at these from now on."""
        entries = tuple(entries)
        agents = sorted({entry.agent for entry in entries if entry.agent})
        judges: dict[Key, tuple[str, list[Judge]]] = {}
        for entry in entries:
            judge = (
                client_judge(entry, " ".join(agents), self._home)
                if entry.part == "client"
                else hooks_judge(entry, self._adapter(entry.agent), self._home)
            )
            judges.setdefault(entry.key, (entry.root, []))[1].append(judge)
        for name in agents:
            adapter = self._adapter(name)
            roots = {entry.root for entry in entries if entry.agent == name}
            for path, root, judge in self._silencers(adapter, roots) if adapter else ():
                judges.setdefault((path, name), (root, []))[1].append(judge)
        self._judges = {key: (root, first_of(each)) for key, (root, each) in judges.items()}
        self._seen = {}

    def look(self) -> dict[Key, TamperedData]:
        """Everything that is wrong now."""
        found = {}
        for key, (root, judge) in self._judges.items():
            told = self._one(key, root, judge)
            if told is not None:
                found[key] = told
        return found

    def _adapter(self, name: str) -> Adapter | None:
        """The adapter of an agent that has files to look at."""
        found = self._adapters.get(name)
        return found if found is not None and found.setup is not None else None

    def _one(self, key: Key, root: str, judge: Judge) -> TamperedData | None:
        if root and not Path(root).is_dir():
            return None  # a project that is gone has no agent in it
        path = Path(key[0])
        stamp = _stamp(path)
        known = self._seen.get(key)
        if known is not None and known[0] == stamp:
            return known[1]
        told = judge(_content(path))
        self._seen[key] = stamp, told
        return told

    def _silencers(self, agent: Adapter, roots: Iterable[str]) -> Iterable[tuple[str, str, Judge]]:
        setup = setup_of(agent)
        if setup.silencers is None:
            return
        own = home_of(setup, self._env)
        places = [(str(own / each), "") for each in setup.silencers.home]
        places += [(each, "") for each in setup.silencers.system]
        for root in filter(None, roots):
            places += [(str(Path(root, each)), root) for each in setup.silencers.project]
        for path, root in places:
            yield path, root, silencer_judge(agent, setup.silencers, path, self._home)


def _stamp(path: Path) -> _Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stamp(found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)


def _content(path: Path) -> bytes | None:
    """What is in a file; None where there is none that can be read."""
    try:
        # A pipe in its place would otherwise be waited for.
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            return file.read(READ_BYTES)
    except OSError:
        return None
