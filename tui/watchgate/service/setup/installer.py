"""Puts our hooks into an agent's own configuration, and takes them out again."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

import msgspec

from watchgate.agents.registry import adapter
from watchgate.link.paths import Paths
from watchgate.service.setup import client_copy, files, hooks_file
from watchgate.service.setup.backup import Backup
from watchgate.service.setup.command import Client, command
from watchgate.service.setup.files import Found
from watchgate.service.setup.hooks_file import Group
from watchgate.service.setup.json_scan import JsonError
from watchgate.service.setup.targets import Refusal, Scope, hooks_path

BACKUPS = "backups"


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What the configuration says about hooks: the profile, and the client's deadline."""

    profile: str
    client_deadline_s: int


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One edit, not yet made: `after` None means that the file is to be deleted.

    `python` is the interpreter that new entries run; None where the edit brings none in.
    """

    agent: str
    found: Found
    after: bytes | None
    python: Path | None = None
    restored: bool = False
    displaced: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """The file behind all links."""
        return self.found.path

    @property
    def needed(self) -> bool:
        """Whether anything is to be written at all."""
        return self.after != self.found.content

    def diff(self) -> str:
        """The change as a unified diff."""
        return "".join(
            difflib.unified_diff(
                self.found.text.splitlines(keepends=True),
                (self.after or b"").decode("utf-8-sig").splitlines(keepends=True),
                str(self.path),
                str(self.path),
            )
        )


class Installer:
    """Plans and makes the changes for one user on one machine."""

    def __init__(self, places: Paths, env: Mapping[str, str], cwd: Path) -> None:
        self._places = places
        self._env = env
        self._cwd = cwd

    def plan_install(self, agent: str, scope: Scope, setting: Setting, python: Path) -> Change:
        """The edit that brings our entries in, or up to date; raises `Refusal`."""
        found = self._found(agent, scope)
        files.check_writable(found)
        try:
            after = hooks_file.install(found.text, self.table(agent, setting, python))
        except JsonError as error:
            raise _broken(found, error) from error
        return Change(agent=agent, found=found, after=found.encode(after), python=python)

    def plan_uninstall(self, agent: str, scope: Scope) -> Change:
        """The edit that takes our entries out: the old bytes where nothing else changed."""
        found = self._found(agent, scope)
        if found.content is None:
            return Change(agent=agent, found=found, after=None)
        backup = self._backup(found)
        note = backup.restores(found.content)
        if note is not None:
            after = backup.before.read_bytes() if note.existed else None
            return Change(agent=agent, found=found, after=after, restored=True)
        try:
            after = found.encode(hooks_file.uninstall(found.text))
            displaced = hooks_file.displaced(found.text)
        except JsonError as error:
            raise _broken(found, error) from error
        return Change(agent=agent, found=found, after=after, displaced=displaced)

    def install(self, change: Change) -> None:
        """Makes a planned installation: the client first, then a backup, then the entries."""
        if change.python is not None:
            client_copy.write(self._places, change.python)
        after = change.after
        if after is None or not change.needed:
            return
        found, backup = change.found, self._backup(change.found)
        files.check_writable(found)
        note = backup.restores(found.content)
        if note is not None:
            before = backup.before.read_bytes() if note.existed else None
            made = note.made_directory
        else:
            present = found.content is not None and hooks_file.ours(found.text)
            stripped = found.encode(hooks_file.uninstall(found.text))
            before = stripped if present else found.content
            made = not found.path.parent.exists()
        backup.keep(before, after, made_directory=made)
        files.write(found, after)

    def uninstall(self, change: Change) -> None:
        """Makes a planned removal and forgets the backup."""
        found, backup = change.found, self._backup(change.found)
        note = backup.restores(found.content)
        if change.after is not None and change.needed:
            files.write(found, change.after)
        elif change.after is None and found.content is not None:
            files.delete(found)
            if note is not None and note.made_directory and not any(found.path.parent.iterdir()):
                found.path.parent.rmdir()
        backup.drop()

    def table(self, agent: str, setting: Setting, python: Path) -> dict[str, list[Group]]:
        """All groups of an agent by event, as they are written."""
        client = Client(
            python=python,
            script=self._places.client,
            ingest_socket=self._places.ingest_socket,
            deadline_s=setting.client_deadline_s,
        )
        spoken = adapter(agent)
        table: dict[str, list[Group]] = {}
        for entry in spoken.entries(setting.profile):
            line = command(spoken, entry, client, setting.profile)
            table.setdefault(entry.event, []).append(hooks_file.group(entry, line))
        return table

    def _found(self, agent: str, scope: Scope) -> Found:
        return files.read(hooks_path(agent, scope, self._env, self._cwd))

    def _backup(self, found: Found) -> Backup:
        return Backup(self._places.data_dir / BACKUPS, found.path)


def _broken(found: Found, error: JsonError) -> Refusal:
    return Refusal(f"{found.path}, {error}: nothing was changed, mend the file and try again")
