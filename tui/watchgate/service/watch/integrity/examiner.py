"""Reads every file that the gate rests on when its stamp has changed, and decides on alarms."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from watchgate.agents.base import Adapter, Setup
from watchgate.core.base.bounded import Recent
from watchgate.core.model.records import TamperedData
from watchgate.service.setup.agent_files import agent_home as home_of
from watchgate.service.setup.agent_files import setup_of
from watchgate.service.setup.manifest import FileStamp, InstalledFile, looked_at, stamp_of
from watchgate.service.watch.integrity.file_judges import (
    FileJudge,
    client_judge,
    first_fault_of,
    hooks_judge,
    mended_alarm,
    reinstall_commands,
    silencer_judge,
    variables_judge,
)

WatchedKey = tuple[str, str]
"""A file's path, and the agent whose hooks are in it."""

AlarmRecord = tuple[Literal["policy.tampered", "policy.intact"], TamperedData]


class Alarms:
    """Compares each look with what was reported.

    A file is reported when two looks on end find it changed: our own installation changes one a
    moment before it notes that it did. `earlier` is what the core before reported as open.
    """

    def __init__(self, earlier: Iterable[TamperedData] = ()) -> None:
        self.reported: dict[WatchedKey, TamperedData] = {}
        self._earlier = {(alarm.path, alarm.agent): alarm for alarm in earlier}
        self._last: Mapping[WatchedKey, TamperedData] = {}

    def at_once(self, faults: Mapping[WatchedKey, TamperedData]) -> list[TamperedData]:
        """Returns the faults to report without a second look: a call may run before that."""
        fresh = {key: each for key, each in faults.items() if key not in self.reported}
        self.reported |= fresh
        self._last = {**self._last, **fresh}
        return list(fresh.values())

    def look(self, faults: Mapping[WatchedKey, TamperedData]) -> list[AlarmRecord]:
        """Returns the alarms to report after this look; from now on they count as reported."""
        was_wrong, self._earlier = self._earlier, {}
        tells: list[AlarmRecord] = [
            ("policy.intact", mended_alarm(alarm))
            for key, alarm in was_wrong.items()
            if key not in faults
        ]
        for key, alarm in list(self.reported.items()):
            if key not in faults:
                del self.reported[key]
                tells.append(("policy.intact", mended_alarm(alarm)))
        for key, each in faults.items():
            # What never stays the same must not go untold, nor be told at every look.
            is_new = key not in self.reported and key in self._last
            if is_new or (self._last.get(key) == each and self.reported[key] != each):
                self.reported[key] = each
                tells.append(("policy.tampered", each))
        self._last = faults
        return tells


MAX_PROJECTS = 100
"""Folders of sessions that are watched; the newest, as each costs some looks at files."""
ABOVE = 12
"""So many folders up an agent may look for its variables, and so we do."""


class Examiner:
    """Judges the files of some entries; every method may run in a thread, one at a time."""

    def __init__(self, adapters: Mapping[str, Adapter], env: Mapping[str, str]) -> None:
        self._adapters = adapters
        self._env = env
        self._home = env.get("HOME", "")
        self._entries: tuple[InstalledFile, ...] = ()
        self._projects: Recent[tuple[str, str], None] = Recent(MAX_PROJECTS)
        self._judges: dict[WatchedKey, tuple[str, FileJudge]] = {}
        self._examined: dict[WatchedKey, tuple[FileStamp | None, TamperedData | None]] = {}

    def watch(self, entries: Iterable[InstalledFile]) -> None:
        """Replaces the entries whose files are watched."""
        self._entries = entries = tuple(entries)
        agents = sorted({entry.agent for entry in entries if entry.agent})
        # Each installation brings the client along, so one of them mends it.
        client_mend = reinstall_commands(
            sorted(entries, key=lambda entry: (not entry.agent, entry.root))[:1], self._home
        )
        judges: dict[WatchedKey, tuple[str, list[FileJudge]]] = {}
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
            roots |= {folder for agent, folder in self._projects if agent == name}
            for path, root, judge in self._silencers(adapter, roots) if adapter else ():
                judges.setdefault((path, name), (root, []))[1].append(judge)
        self._judges = {key: (root, first_fault_of(each)) for key, (root, each) in judges.items()}
        self._examined = {}

    def enter(self, agent: str, folder: str) -> dict[WatchedKey, TamperedData]:
        """Watches the files that a session reads in its folder too; returns the faults there now.

        Only of an agent whose hooks are installed.
        """
        adapter = self._adapter(agent)
        installed = any(entry.agent == agent for entry in self._entries)
        known = (agent, folder) in self._projects
        if not known and len(self._projects) == MAX_PROJECTS:
            del self._projects[next(iter(self._projects))]
            self.watch(self._entries)  # the files of that one are let go
        self._projects[agent, folder] = None
        if adapter is None or not installed or known:
            return {}
        faults = {}
        judges: dict[WatchedKey, tuple[str, list[FileJudge]]] = {}
        for path, root, judge in self._silencers(adapter, (folder,)):
            if (path, agent) not in self._judges:
                judges.setdefault((path, agent), (root, []))[1].append(judge)
        for key, (root, each) in judges.items():
            self._judges[key] = root, first_fault_of(each)
            fault = self._one(key, root, self._judges[key][1])
            if fault is not None:
                faults[key] = fault
        return faults

    def look(self) -> dict[WatchedKey, TamperedData]:
        """Returns everything that is wrong now."""
        faults = {}
        for key, (root, judge) in self._judges.items():
            fault = self._one(key, root, judge)
            if fault is not None:
                faults[key] = fault
        return faults

    def _adapter(self, name: str) -> Adapter | None:
        """Returns the adapter of an agent that has files to look at."""
        adapter = self._adapters.get(name)
        return adapter if adapter is not None and adapter.setup is not None else None

    def _one(self, key: WatchedKey, root: str, judge: FileJudge) -> TamperedData | None:
        path, known = Path(key[0]), self._examined.get(key)
        try:
            if root and not Path(root).is_dir():
                return None  # a project that is gone has no agent in it
            stamp = stamp_of(path)
            if known is not None and known[0] == stamp:
                return known[1]
            fault = judge(looked_at(path))
        except OSError:
            # A home on a network that is away, no descriptor left: no word about the file.
            return known[1] if known is not None else None
        self._examined[key] = stamp, fault
        return fault

    def _silencers(
        self, agent: Adapter, roots: Iterable[str]
    ) -> Iterable[tuple[str, str, FileJudge]]:
        setup = setup_of(agent)
        silencers = setup.silencers
        if silencers is None:
            return
        for path, root, dotenv in variable_files(setup, self._env, roots):
            if not dotenv:
                yield path, root, silencer_judge(agent, silencers, path, self._home)
            yield path, root, variables_judge(agent, path, self._home, dotenv=dotenv)


def variable_files(
    setup: Setup, env: Mapping[str, str], roots: Iterable[str]
) -> Iterator[tuple[str, str, bool]]:
    """Yields the files that may set an agent's variables, or switch its hooks off.

    Each with the folder of the session that reads it, empty for all of them, and whether it is a
    file of variables alone: those of the home, of the folders, and of the ones above them.
    """
    silencers = setup.silencers
    if silencers is None:
        return
    own, roots = home_of(setup, env), tuple(filter(None, roots))
    yield from ((str(own / each), "", False) for each in silencers.home)
    yield from ((each, "", False) for each in silencers.system)
    for root in roots:
        yield from ((str(Path(root, each)), root, False) for each in silencers.project)
    for name in silencers.dotenv:
        yield str(Path(env.get("HOME", ""), name)), "", True
        for root in roots:
            for folder in [Path(root), *Path(root).parents][:ABOVE]:
                yield str(folder / name), root, True
