"""The policies in force: shipped, admin's and user's rules, tightened by each session's project."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from pathlib import Path

import msgspec

from watchgate.core.policy.assessment import Finding
from watchgate.core.policy.examples import check_examples
from watchgate.core.policy.load import Loaded, PolicyError
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.rule_file import Tier
from watchgate.link.paths import Paths
from watchgate.service.policy.files import Stamp, project_files, read, stamp
from watchgate.service.policy.shipped import shipped, shipped_files

BROKEN = "policy.broken"
BROKEN_PROJECT = "policy.broken-project"

# Folders come from agents, so not all of them are kept; the files that were read there are.
_MAX_FOLDERS = 256
_MAX_FILES = 1_000

Sources = tuple[tuple[Path, Tier], ...]


class Project(msgspec.Struct, frozen=True):
    """What was loaded for one folder: the policy there, the files, and what is wrong with one."""

    policy: Policy
    files: tuple[Loaded, ...]
    stamps: dict[Path, Stamp | None]
    fault: str = ""


class _Read(msgspec.Struct, frozen=True):
    """A project's file: what was good of it last, and what is wrong with it now."""

    loaded: Loaded | None
    fault: str = ""


class Policies:
    """Gives the policy for a session's folder. What was loaded stays until `reload`.

    `fault` says what is wrong with the admin's or the user's file: then every call is asked.
    """

    def __init__(self, sources: Sources) -> None:
        self.fault = ""
        self.told: list[str] = []
        self._sources = sources
        self._projects: OrderedDict[str, Project] = OrderedDict()
        self._announced: dict[Path, Stamp | None] = {}
        self._known: dict[Path, _Read] = {}
        self._files: tuple[Loaded, ...] = ()
        self._stamps = self._stamped()
        try:
            self._base, self._files = self._read()
        except PolicyError as fault:
            self.fault = str(fault)
            reason = f"The policy cannot be used, so every call is asked: {fault}"
            finding = Finding(BROKEN, reason, "high", always_ask=True)
            self._base = msgspec.structs.replace(shipped(), faults=(finding,))

    def __call__(self, cwd: str) -> Policy:
        """The policy where a session works; a project's files are read when it is first seen."""
        project = self._projects.get(cwd)
        if project is None:
            project = self._keep(cwd, self._project(cwd))
            if project.fault:
                self.told.append(project.fault)
        else:
            self._projects.move_to_end(cwd)
        return project.policy

    @property
    def base(self) -> Policy:
        """The policy without any project's."""
        return self._base

    @property
    def files(self) -> tuple[tuple[str, Tier], ...]:
        """The files that are in force, each with its tier, besides the shipped ones."""
        found = [(file.source.origin, file.tier) for file in self._files]
        for project in self._projects.values():
            found += [(file.source.origin, file.tier) for file in project.files]
        return tuple(dict.fromkeys(found))

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of what is in force of the admin's and the user's file, by its path."""
        return {
            file.source.origin: sha256(file.source.text.encode()).hexdigest()
            for file in self._files
        }

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with files, each with the place and how to mend it."""
        found = [project.fault for project in self._projects.values()]
        return tuple(dict.fromkeys(fault for fault in (self.fault, *found) if fault))

    def reload(self) -> tuple[str, ...]:
        """Load every file again; what is wrong with files of projects, each with its place.

        Raises `PolicyError` for the admin's or the user's file; what was in force then stays.
        """
        stamps = self._stamped()
        self._base, self._files = self._read()
        self._stamps, self.fault = stamps, ""
        self._announced = {}
        self.told = []
        before, self._known = self._known, {}
        for path, known in before.items():
            self._look(path, known.loaded)
        for cwd in list(self._projects):
            self._keep(cwd, self._project(cwd))
        return self.faults

    def changed(self) -> tuple[Path, ...]:
        """The files that are no longer what was loaded, each told of once for each change."""
        known = dict(self._stamps)
        # This runs beside the loop, which takes in folders meanwhile.
        for project in tuple(self._projects.values()):
            known.update(project.stamps)
        found = []
        for path, before in known.items():
            now = stamp(path)
            if now != before and self._announced.get(path, before) != now:
                self._announced[path] = now
                found.append(path)
        return tuple(found)

    def _read(self) -> tuple[Policy, tuple[Loaded, ...]]:
        found = [read(path, tier) for path, tier in self._sources]
        files = tuple(file for file in found if file is not None)
        if not files:
            return shipped(), ()
        policy = Policy.of((*shipped_files(), *files))
        for file in files:
            check_examples(policy, file)
        return policy, files

    def _project(self, cwd: str) -> Project:
        """The policy for a folder; a bad file there keeps what was good before."""
        paths = project_files(cwd)
        stamps = {path: stamp(path) for path in paths}
        found = [self._known.get(path) or self._look(path) for path in paths]
        files = tuple(each.loaded for each in found if each.loaded is not None)
        faults = [each.fault for each in found if each.fault]
        lost = [each.fault for each in found if each.fault and each.loaded is None]
        try:
            policy = self._base.tightened(files) if files else self._base
        except PolicyError as clash:
            policy, files, lost = self._base, (), [*faults, str(clash)]
            faults = lost
        if lost:
            told = f"The project's policy cannot be used, so nothing is allowed by rule: {lost[0]}"
            finding = Finding(BROKEN_PROJECT, told, "medium", always_ask=True)
            policy = msgspec.structs.replace(policy, faults=(*policy.faults, finding))
        return Project(policy, files, stamps, "; ".join(faults))

    def _look(self, path: Path, before: Loaded | None = None) -> _Read:
        """What a project's file says. It is read once: what an agent changes is not in force."""
        try:
            if len(self._known) >= _MAX_FILES:
                raise PolicyError(f"{path}: {_MAX_FILES:,} such files are in force already; reload")
            found = _Read(read(path, "project"))
            if found.loaded is None:
                return found  # one that appears can only tighten
            check_examples(self._base.tightened((found.loaded,)), found.loaded)
        except PolicyError as fault:
            found = _Read(before, str(fault))
        if len(self._known) < _MAX_FILES:
            self._known[path] = found
        return found

    def _keep(self, cwd: str, project: Project) -> Project:
        self._projects[cwd] = project
        while len(self._projects) > _MAX_FOLDERS:
            self._projects.popitem(last=False)
        return project

    def _stamped(self) -> dict[Path, Stamp | None]:
        return {path: stamp(path) for path, _ in self._sources}


def read_policies(paths: Paths, *, user: Path | None = None, admin: Path | None = None) -> Policies:
    """The policies of this user; `user` and `admin` are other files in place of the usual ones."""
    return Policies(((admin or paths.admin_policy, "admin"), (user or paths.policy, "user")))
