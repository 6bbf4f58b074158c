"""Looks at every file that the gate rests on; reads one only when its stamp has changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from watchgate.agents.base import Adapter
from watchgate.core.records import TamperedData
from watchgate.service.integrity.alarms import Key
from watchgate.service.integrity.findings import (
    Judge,
    again,
    client_judge,
    first_of,
    hooks_judge,
    silencer_judge,
)
from watchgate.service.integrity.looked import Stamp, looked_at, stamp_of
from watchgate.service.integrity.manifest import Entry
from watchgate.service.setup.targets import home as home_of
from watchgate.service.setup.targets import setup_of


class Examiner:
    """Knows the files of some entries; every method may run in a thread, one at a time."""

    def __init__(self, adapters: Mapping[str, Adapter], env: Mapping[str, str]) -> None:
        self._adapters = adapters
        self._env = env
        self._home = env.get("HOME", "")
        self._judges: dict[Key, tuple[str, Judge]] = {}
        self._seen: dict[Key, tuple[Stamp | None, TamperedData | None]] = {}

    def watch(self, entries: Iterable[Entry]) -> None:
        """Look at these from now on."""
        entries = tuple(entries)
        agents = sorted({entry.agent for entry in entries if entry.agent})
        # Each installation brings the client along, so one of them mends it.
        client_mend = again(
            sorted(entries, key=lambda entry: (not entry.agent, entry.root))[:1], self._home
        )
        judges: dict[Key, tuple[str, list[Judge]]] = {}
        for entry in entries:
            judge = (
                client_judge(entry, client_mend, self._home)
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
        path, known = Path(key[0]), self._seen.get(key)
        try:
            if root and not Path(root).is_dir():
                return None  # a project that is gone has no agent in it
            stamp = stamp_of(path)
            if known is not None and known[0] == stamp:
                return known[1]
            told = judge(looked_at(path))
        except OSError:
            # A home on a network that is away, no descriptor left: no word about the file.
            return known[1] if known is not None else None
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
