"""The policies in force: shipped, admin's and user's rules, tightened by each session's project."""

from __future__ import annotations

from collections import OrderedDict
from hashlib import sha256
from pathlib import Path

import msgspec

from watchgate.core.model.assessment import Finding
from watchgate.core.policy.inputs.rule_file import Tier
from watchgate.core.policy.judging.rule_examples import check_examples
from watchgate.core.policy.rules.load import Loaded, PolicyError
from watchgate.core.policy.rules.policy import Policy
from watchgate.link.paths import Paths
from watchgate.service.policies.policy_files import (
    PolicyFileStamp,
    policy_stamp,
    project_files,
    read_policy_file,
    shipped,
    shipped_files,
)

BROKEN = "policy.broken"
BROKEN_PROJECT = "policy.broken-project"

# Folders come from agents, so not all of them are kept; the files that were read there are.
_MAX_FOLDERS = 256
_MAX_FILES = 1_000

Sources = tuple[tuple[Path, Tier], ...]


class ProjectPolicy(msgspec.Struct, frozen=True):
    """The policy of one folder, the files it was loaded from, and the fault of one of them."""

    policy: Policy
    files: tuple[Loaded, ...]
    stamps: dict[Path, PolicyFileStamp | None]
    fault: str = ""


class _ProjectFile(msgspec.Struct, frozen=True):
    """A project's file: its last good rules, and the fault of it now."""

    loaded: Loaded | None
    fault: str = ""


class Policies:
    """Gives the policy for a session's folder. What was loaded stays until `reload`.

    `fault` says what is wrong with the admin's or the user's file: then every call is asked.
    """

    def __init__(self, sources: Sources) -> None:
        self.fault = ""
        self.pending_faults: list[str] = []
        self._sources = sources
        self._projects: OrderedDict[str, ProjectPolicy] = OrderedDict()
        self._announced: dict[Path, PolicyFileStamp | None] = {}
        self._known: dict[Path, _ProjectFile] = {}
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
        """Returns the policy in a folder; a project's files are read at its first session."""
        project = self._projects.get(cwd)
        if project is None:
            project = self._keep(cwd, self._project(cwd))
            if project.fault:
                self.pending_faults.append(project.fault)
        else:
            self._projects.move_to_end(cwd)
        return project.policy

    @property
    def base(self) -> Policy:
        """Returns the policy without any project's."""
        return self._base

    @property
    def files(self) -> tuple[tuple[str, Tier], ...]:
        """Returns the files that are in force, each with its tier, besides the shipped ones."""
        files = [(file.source.origin, file.tier) for file in self._files]
        for project in self._projects.values():
            files += [(file.source.origin, file.tier) for file in project.files]
        return tuple(dict.fromkeys(files))

    @property
    def digests(self) -> dict[str, str]:
        """Returns the SHA-256 of the admin's and the user's file in force, by its path."""
        return {
            file.source.origin: sha256(file.source.text.encode()).hexdigest()
            for file in self._files
        }

    @property
    def faults(self) -> tuple[str, ...]:
        """Returns the faults of files, each with the place and how to mend it."""
        faults = [project.fault for project in self._projects.values()]
        return tuple(dict.fromkeys(fault for fault in (self.fault, *faults) if fault))

    def reload(self) -> tuple[str, ...]:
        """Loads every file again; returns the faults of projects' files, each with its place.

        Raises `PolicyError` for the admin's or the user's file; what was in force then stays.
        """
        stamps = self._stamped()
        self._base, self._files = self._read()
        self._stamps, self.fault = stamps, ""
        self._announced = {}
        self.pending_faults = []
        before, self._known = self._known, {}
        for path, known in before.items():
            self._look(path, known.loaded)
        for cwd in list(self._projects):
            self._keep(cwd, self._project(cwd))
        return self.faults

    def changed(self) -> tuple[Path, ...]:
        """Returns the files that are no longer what was loaded, each once for each change."""
        known = dict(self._stamps)
        # This runs beside the loop, which takes in folders meanwhile.
        for project in tuple(self._projects.values()):
            known.update(project.stamps)
        changed_paths = []
        for path, before in known.items():
            now = policy_stamp(path)
            if now != before and self._announced.get(path, before) != now:
                self._announced[path] = now
                changed_paths.append(path)
        return tuple(changed_paths)

    def _read(self) -> tuple[Policy, tuple[Loaded, ...]]:
        read_files = [read_policy_file(path, tier) for path, tier in self._sources]
        files = tuple(file for file in read_files if file is not None)
        if not files:
            return shipped(), ()
        policy = Policy.of((*shipped_files(), *files))
        for file in files:
            check_examples(policy, file)
        return policy, files

    def _project(self, cwd: str) -> ProjectPolicy:
        """Loads the policy for a folder; a bad file there keeps what was good before."""
        paths = project_files(cwd)
        stamps = {path: policy_stamp(path) for path in paths}
        readings = [self._known.get(path) or self._look(path) for path in paths]
        files = tuple(each.loaded for each in readings if each.loaded is not None)
        faults = [each.fault for each in readings if each.fault]
        lost = [each.fault for each in readings if each.fault and each.loaded is None]
        try:
            policy = self._base.tightened(files) if files else self._base
        except PolicyError as clash:
            policy, files, lost = self._base, (), [*faults, str(clash)]
            faults = lost
        if lost:
            text = f"The project's policy cannot be used, so nothing is allowed by rule: {lost[0]}"
            finding = Finding(BROKEN_PROJECT, text, "medium", always_ask=True)
            policy = msgspec.structs.replace(policy, faults=(*policy.faults, finding))
        return ProjectPolicy(policy, files, stamps, "; ".join(faults))

    def _look(self, path: Path, before: Loaded | None = None) -> _ProjectFile:
        """Reads a project's file. It is read once: what an agent changes is not in force."""
        try:
            if len(self._known) >= _MAX_FILES:
                raise PolicyError(f"{path}: {_MAX_FILES:,} such files are in force already; reload")
            reading = _ProjectFile(read_policy_file(path, "project"))
            if reading.loaded is None:
                return reading  # one that appears can only tighten
            check_examples(self._base.tightened((reading.loaded,)), reading.loaded)
        except PolicyError as fault:
            reading = _ProjectFile(before, str(fault))
        if len(self._known) < _MAX_FILES:
            self._known[path] = reading
        return reading

    def _keep(self, cwd: str, project: ProjectPolicy) -> ProjectPolicy:
        self._projects[cwd] = project
        while len(self._projects) > _MAX_FOLDERS:
            self._projects.popitem(last=False)
        return project

    def _stamped(self) -> dict[Path, PolicyFileStamp | None]:
        return {path: policy_stamp(path) for path, _ in self._sources}


def read_policies(paths: Paths, *, user: Path | None = None, admin: Path | None = None) -> Policies:
    """Reads the policies of this user; `user` and `admin` replace the usual files."""
    return Policies(((admin or paths.admin_policy, "admin"), (user or paths.policy, "user")))
