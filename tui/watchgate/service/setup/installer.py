"""Puts our hooks into an agent's own configuration, and takes them out again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.config.config import Config
from watchgate.link.paths import Paths
from watchgate.service.setup import agent_files, cleanup, hook_client, manifest
from watchgate.service.setup.agent_files import (
    AgentFile,
    InstallRefusal,
    Scope,
    agent_home,
    is_folder,
    setup_of,
)
from watchgate.service.setup.backup import Backup
from watchgate.service.setup.forms import json_table
from watchgate.service.setup.forms.form_editor import FormError, StatusLine
from watchgate.service.setup.forms.guarded_command import HookClient
from watchgate.service.setup.hook_files import FileChange, HookFile, HookInputs, hook_files
from watchgate.service.setup.manifest import InstalledFile, measure_client, measure_hooks


class HookSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration's part about hooks: the profile, the client's deadline and margin.

    `native` says that hooks run the native client, `status_line` what becomes of the line of ours
    that some agents show.
    """

    profile: str
    client_deadline_s: int
    margin_s: int = 5
    native: bool = False
    status_line: StatusLine = "keep"


def hook_settings(
    config: Config,
    places: Paths,
    python: Path,
    status_line: StatusLine = "keep",
    *,
    native: bool | None = None,
) -> HookSettings:
    """Returns the part of this configuration about hooks.

    Args:
        config: The configuration.
        places: Watchgate's own paths.
        python: The interpreter of the hooks.
        status_line: The fate of our status line.
        native: Whether hooks run the native client; None: tried here.
    """
    return HookSettings(
        profile=config.profile,
        client_deadline_s=config.approval.client_deadline_s,
        margin_s=config.approval.margin_s,
        native=hook_client.native_works(places, python) if native is None else native,
        status_line=status_line,
    )


class Installer:
    """Plans and makes the changes for one user on one machine.

    A plan of several files is made as a whole first, so that a refusal leaves all of them alone.
    """

    def __init__(self, places: Paths, env: Mapping[str, str], cwd: Path) -> None:
        self._places = places
        self._env = env
        self._cwd = cwd

    def parts(
        self, agent: Adapter, scope: Scope, setting: HookSettings, python: Path
    ) -> tuple[HookFile, ...]:
        """Returns every file of an installation and what is ours in it; raises `InstallRefusal`."""
        client = HookClient(
            python=python,
            script=self._places.client,
            ingest_socket=self._places.ingest_socket,
            deadline_s=setting.client_deadline_s,
            margin_s=setting.margin_s,
            native=self._places.native_client if setting.native else None,
        )
        wanted = HookInputs(
            client=client,
            profile=setting.profile,
            places=self._places,
            status_line=setting.status_line,
        )
        return hook_files(agent, scope, wanted, self._env, self._cwd)

    def plan_install(
        self, agent: Adapter, scope: Scope, setting: HookSettings, python: Path
    ) -> tuple[FileChange, ...]:
        """Returns the edits that bring our entries in, or up to date; raises `InstallRefusal`."""
        planned_parts = self.parts(agent, scope, setting, python)
        return tuple(self._install_plan(agent, part) for part in planned_parts)

    def plan_uninstall(self, agent: Adapter, scope: Scope, python: Path) -> tuple[FileChange, ...]:
        """Returns the edits that take our entries out: the old bytes where they fit."""
        setting = HookSettings(profile="guard", client_deadline_s=1)
        planned_parts = self.parts(agent, scope, setting, python)
        return tuple(self._uninstall_plan(agent, part) for part in planned_parts)

    def install(
        self, changes: tuple[FileChange, ...], python: Path, *, native: bool = False
    ) -> None:
        """Makes a planned installation: the client first, then a backup, then the entries."""
        self._write_client(native=native)
        # At once, as compiling takes a while: a core must not take the new client for an alarm.
        self._remember(_client(self._copies(native=native)), ())
        hook_client.renew_bytecode(self._places, python)
        for change in changes:
            agent_files.check_writable(change.file)
        for change in changes:
            if change.needed and change.after is not None:
                self._keep(change, change.after)
                agent_files.write(change.file, change.after, executable=change.part.executable)
            elif change.needed:
                agent_files.delete(change.file)
            if change.part.executable and change.after is not None:
                agent_files.let_run(change.path)
        self._note(changes, native=native)

    def uninstall(self, changes: tuple[FileChange, ...]) -> None:
        """Makes a planned removal and forgets the backups.

        A file that somebody's own entry still runs the client from stays in the list.
        """
        made = {Path(name) for change in changes for name in self._made(change)}
        for change in changes:
            if change.after is not None and change.needed:
                agent_files.write(change.file, change.after)
            elif change.after is None and change.file.content is not None:
                agent_files.delete(change.file)
        agent_files.remove_directories(sorted(made, key=lambda each: len(each.parts), reverse=True))
        # Only now: who is interrupted before finds the folders by them when it is done again.
        for change in changes:
            if not change.left:
                self._backup(change.file).drop()
        left = [self._entry(change) for change in changes if change.left]
        self._remember(left, {_key(change) for change in changes if not change.left})

    def backup_of(self, change: FileChange) -> Path | None:
        """Returns the path of the bytes that a file had before; None without a file then."""
        backup = self._backup(change.file)
        return backup.before if backup.old() is not None else None

    def _write_client(self, *, native: bool) -> None:
        try:
            cleanup.note_folders(self._places)
            hook_client.write_copy(self._places)
            if native:
                hook_client.write_native(self._places)
        except OSError as error:
            raise InstallRefusal(
                f"the hook client cannot be written to {self._places.data_dir} ({error}), so no "
                "entry was: mend that and do it again"
            ) from error

    def _copies(self, *, native: bool) -> dict[Path, bytes]:
        """Returns each file of the client with this version's content."""
        own = hook_client.packaged_native() if native else None
        native_copy = {} if own is None else {self._places.native_client: own}
        return hook_client.packaged_copy(self._places) | native_copy

    def _note(self, changes: tuple[FileChange, ...], *, native: bool) -> None:
        """Notes what was written, so that a running core can tell it from what others do."""
        made = [self._entry(change) for change in changes if change.after is not None]
        client = self._copies(native=native)
        client |= {path: path.read_bytes() for path in hook_client.cached_bytecode(self._places)}
        gone = {_key(change) for change in changes if change.after is None}
        # Nothing brings it back then: the alarm that it is gone would have no end.
        if not native and not self._places.native_client.exists():
            gone.add((str(self._places.native_client), ""))
        self._remember([*made, *_client(client)], gone)

    def _remember(self, made: Sequence[InstalledFile], gone: Collection[tuple[str, str]]) -> None:
        try:
            manifest.update_manifest(self._places.installed, made, gone)
        except OSError as error:
            raise InstallRefusal(
                f"{self._places.installed} cannot be written ({error.strerror}), so a core will "
                "take what was done for somebody else's change: mend that and do it again"
            ) from error

    def _entry(self, change: FileChange) -> InstalledFile:
        path, setup = change.part.path, setup_of(change.agent)
        measured = measure_hooks(setup, str(path), change.after or b"")
        return InstalledFile(
            part="hooks",
            path=str(path),
            digest=measured.digest,
            agent=change.agent.name,
            events=measured.events,
            root="" if path.is_relative_to(agent_home(setup, self._env)) else str(self._cwd),
        )

    def _install_plan(self, agent: Adapter, part: HookFile) -> FileChange:
        if not part.table:
            return self._uninstall_plan(agent, part)
        file = agent_files.read(part.path)
        agent_files.check_writable(file)
        try:
            after = part.editor.install(file.text, part.table)
            shown = json_table.status_line_owner(file.text, setup_of(agent))
        except FormError as error:
            raise _broken(file, error) from error
        return FileChange(
            agent=agent,
            part=part,
            file=file,
            after=file.encode(after),
            status_line=shown,
        )

    def _uninstall_plan(self, agent: Adapter, part: HookFile) -> FileChange:
        file = agent_files.read(part.path)
        if file.content is None:
            return FileChange(agent=agent, part=part, file=file, after=None)
        backup = self._backup(file)
        if backup.restores(file.content) is not None:
            old = backup.old()
            return FileChange(agent=agent, part=part, file=file, after=old, restored=True)
        try:
            after = self._stripped(agent, part, file)
            displaced = part.editor.displaced(file.text)
        except FormError as error:
            raise _broken(file, error) from error
        if after != file.content:
            agent_files.check_writable(file)
        return FileChange(agent=agent, part=part, file=file, after=after, displaced=displaced)

    def _stripped(self, agent: Adapter, part: HookFile, file: AgentFile) -> bytes | None:
        """Returns the file without our entries; None where it never had anything else."""
        note, setup = self._backup(file).note(), setup_of(agent)
        old = self._backup(file).old() or b""
        after = part.editor.uninstall(file.text, AgentFile(file.path, old, None).text)
        if after == file.text:
            return file.content
        empty = not after.strip() or json_table.is_only_ours(after, setup)
        gone = is_folder(setup) or setup.owned or (note is not None and not note.existed)
        if empty and gone and not old:
            return None
        return file.encode(after)

    def _keep(self, change: FileChange, after: bytes) -> None:
        file, backup = change.file, self._backup(change.file)
        note = backup.restores(file.content)
        if note is not None:
            backup.keep(backup.old(), after, note.made)
            return
        note = backup.note()
        before = None
        if file.content is not None:
            before = self._stripped(change.agent, change.part, file)
        made = note.made if note else tuple(map(str, agent_files.missing_directories(file.path)))
        backup.keep(before, after, made)

    def _made(self, change: FileChange) -> tuple[str, ...]:
        """Returns the directories that the installation made for a file."""
        note = self._backup(change.file).note()
        return note.made if note else ()

    def _backup(self, file: AgentFile) -> Backup:
        return Backup(self._places.backups, file.path)


def _client(files: Mapping[Path, bytes]) -> list[InstalledFile]:
    return [
        InstalledFile(part="client", path=str(path), digest=measure_client(content).digest)
        for path, content in files.items()
    ]


def _key(change: FileChange) -> tuple[str, str]:
    return str(change.part.path), change.agent.name


def _broken(file: AgentFile, error: FormError) -> InstallRefusal:
    return InstallRefusal(f"{file.path}, {error}: nothing was changed, mend the file and try again")
