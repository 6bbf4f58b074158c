"""Puts our hooks into an agent's own configuration, and takes them out again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.config import Config
from watchgate.link.paths import Paths
from watchgate.service.integrity import manifest
from watchgate.service.integrity.manifest import Entry
from watchgate.service.integrity.measure import of_client, of_hooks
from watchgate.service.setup import client_copy, files, leaving, native_client
from watchgate.service.setup.backup import Backup
from watchgate.service.setup.change import Change
from watchgate.service.setup.command import Client
from watchgate.service.setup.files import Found
from watchgate.service.setup.forms import json_top
from watchgate.service.setup.forms.editor import FormError, StatusLine
from watchgate.service.setup.parts import Part, Wanted, parts
from watchgate.service.setup.targets import Refusal, Scope, home, is_folder, setup_of


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """The configuration's part about hooks: the profile, the client's deadline and margin.

    `native` says that hooks run the native client, `status_line` what becomes of the line of ours
    that some agents show.
    """

    profile: str
    client_deadline_s: int
    margin_s: int = 5
    native: bool = False
    status_line: StatusLine = "keep"


def setting_of(
    config: Config,
    places: Paths,
    python: Path,
    status_line: StatusLine = "keep",
    *,
    native: bool | None = None,
) -> Setting:
    """Returns the part of this configuration about hooks.

    Args:
        config: The configuration.
        places: Watchgate's own paths.
        python: The interpreter of the hooks.
        status_line: The fate of our status line.
        native: Whether hooks run the native client; None: tried here.
    """
    return Setting(
        profile=config.profile,
        client_deadline_s=config.approval.client_deadline_s,
        margin_s=config.approval.margin_s,
        native=native_client.works(places, python) if native is None else native,
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
        self, agent: Adapter, scope: Scope, setting: Setting, python: Path
    ) -> tuple[Part, ...]:
        """Returns every file of an installation and what is ours in it; raises `Refusal`."""
        client = Client(
            python=python,
            script=self._places.client,
            ingest_socket=self._places.ingest_socket,
            deadline_s=setting.client_deadline_s,
            margin_s=setting.margin_s,
            native=self._places.native_client if setting.native else None,
        )
        wanted = Wanted(
            client=client,
            profile=setting.profile,
            places=self._places,
            status_line=setting.status_line,
        )
        return parts(agent, scope, wanted, self._env, self._cwd)

    def plan_install(
        self, agent: Adapter, scope: Scope, setting: Setting, python: Path
    ) -> tuple[Change, ...]:
        """Returns the edits that bring our entries in, or up to date; raises `Refusal`."""
        planned_parts = self.parts(agent, scope, setting, python)
        return tuple(self._install_plan(agent, part) for part in planned_parts)

    def plan_uninstall(self, agent: Adapter, scope: Scope, python: Path) -> tuple[Change, ...]:
        """Returns the edits that take our entries out: the old bytes where they fit."""
        setting = Setting(profile="guard", client_deadline_s=1)
        planned_parts = self.parts(agent, scope, setting, python)
        return tuple(self._uninstall_plan(agent, part) for part in planned_parts)

    def install(self, changes: tuple[Change, ...], python: Path, *, native: bool = False) -> None:
        """Makes a planned installation: the client first, then a backup, then the entries."""
        self._write_client(native=native)
        # At once, as compiling takes a while: a core must not take the new client for an alarm.
        self._remember(_client(self._copies(native=native)), ())
        client_copy.renew_bytecode(self._places, python)
        for change in changes:
            files.check_writable(change.file)
        for change in changes:
            if change.needed and change.after is not None:
                self._keep(change, change.after)
                files.write(change.file, change.after, executable=change.part.executable)
            elif change.needed:
                files.delete(change.file)
            if change.part.executable and change.after is not None:
                files.let_run(change.path)
        self._note(changes, native=native)

    def uninstall(self, changes: tuple[Change, ...]) -> None:
        """Makes a planned removal and forgets the backups.

        A file that somebody's own entry still runs the client from stays in the list.
        """
        made = {Path(name) for change in changes for name in self._made(change)}
        for change in changes:
            if change.after is not None and change.needed:
                files.write(change.file, change.after)
            elif change.after is None and change.file.content is not None:
                files.delete(change.file)
        files.remove_directories(sorted(made, key=lambda each: len(each.parts), reverse=True))
        # Only now: who is interrupted before finds the folders by them when it is done again.
        for change in changes:
            if not change.left:
                self._backup(change.file).drop()
        left = [self._entry(change) for change in changes if change.left]
        self._remember(left, {_key(change) for change in changes if not change.left})

    def backup_of(self, change: Change) -> Path | None:
        """Returns the path of the bytes that a file had before; None without a file then."""
        backup = self._backup(change.file)
        return backup.before if backup.old() is not None else None

    def _write_client(self, *, native: bool) -> None:
        try:
            leaving.note_folders(self._places)
            client_copy.write(self._places)
            if native:
                native_client.write(self._places)
        except OSError as error:
            raise Refusal(
                f"the hook client cannot be written to {self._places.data_dir} ({error}), so no "
                "entry was: mend that and do it again"
            ) from error

    def _copies(self, *, native: bool) -> dict[Path, bytes]:
        """Returns each file of the client with this version's content."""
        own = native_client.packaged() if native else None
        native_copy = {} if own is None else {self._places.native_client: own}
        return client_copy.packaged(self._places) | native_copy

    def _note(self, changes: tuple[Change, ...], *, native: bool) -> None:
        """Notes what was written, so that a running core can tell it from what others do."""
        made = [self._entry(change) for change in changes if change.after is not None]
        client = self._copies(native=native)
        client |= {path: path.read_bytes() for path in client_copy.cached(self._places)}
        gone = {_key(change) for change in changes if change.after is None}
        # Nothing brings it back then: the alarm that it is gone would have no end.
        if not native and not self._places.native_client.exists():
            gone.add((str(self._places.native_client), ""))
        self._remember([*made, *_client(client)], gone)

    def _remember(self, made: Sequence[Entry], gone: Collection[tuple[str, str]]) -> None:
        try:
            manifest.note(self._places.installed, made, gone)
        except OSError as error:
            raise Refusal(
                f"{self._places.installed} cannot be written ({error.strerror}), so a core will "
                "take what was done for somebody else's change: mend that and do it again"
            ) from error

    def _entry(self, change: Change) -> Entry:
        path, setup = change.part.path, setup_of(change.agent)
        measured = of_hooks(setup, str(path), change.after or b"")
        return Entry(
            part="hooks",
            path=str(path),
            digest=measured.digest,
            agent=change.agent.name,
            events=measured.events,
            root="" if path.is_relative_to(home(setup, self._env)) else str(self._cwd),
        )

    def _install_plan(self, agent: Adapter, part: Part) -> Change:
        if not part.table:
            return self._uninstall_plan(agent, part)
        file = files.read(part.path)
        files.check_writable(file)
        try:
            after = part.editor.install(file.text, part.table)
            shown = json_top.status_line(file.text, setup_of(agent))
        except FormError as error:
            raise _broken(file, error) from error
        return Change(
            agent=agent,
            part=part,
            file=file,
            after=file.encode(after),
            status_line=shown,
        )

    def _uninstall_plan(self, agent: Adapter, part: Part) -> Change:
        file = files.read(part.path)
        if file.content is None:
            return Change(agent=agent, part=part, file=file, after=None)
        backup = self._backup(file)
        if backup.restores(file.content) is not None:
            old = backup.old()
            return Change(agent=agent, part=part, file=file, after=old, restored=True)
        try:
            after = self._stripped(agent, part, file)
            displaced = part.editor.displaced(file.text)
        except FormError as error:
            raise _broken(file, error) from error
        if after != file.content:
            files.check_writable(file)
        return Change(agent=agent, part=part, file=file, after=after, displaced=displaced)

    def _stripped(self, agent: Adapter, part: Part, file: Found) -> bytes | None:
        """Returns the file without our entries; None where it never had anything else."""
        note, setup = self._backup(file).note(), setup_of(agent)
        old = self._backup(file).old() or b""
        after = part.editor.uninstall(file.text, Found(file.path, old, None).text)
        if after == file.text:
            return file.content
        empty = not after.strip() or json_top.is_alone(after, setup)
        gone = is_folder(setup) or setup.owned or (note is not None and not note.existed)
        if empty and gone and not old:
            return None
        return file.encode(after)

    def _keep(self, change: Change, after: bytes) -> None:
        file, backup = change.file, self._backup(change.file)
        note = backup.restores(file.content)
        if note is not None:
            backup.keep(backup.old(), after, note.made)
            return
        note = backup.note()
        before = None
        if file.content is not None:
            before = self._stripped(change.agent, change.part, file)
        made = note.made if note else tuple(map(str, files.missing_directories(file.path)))
        backup.keep(before, after, made)

    def _made(self, change: Change) -> tuple[str, ...]:
        """Returns the directories that the installation made for a file."""
        note = self._backup(change.file).note()
        return note.made if note else ()

    def _backup(self, file: Found) -> Backup:
        return Backup(self._places.backups, file.path)


def _client(files: Mapping[Path, bytes]) -> list[Entry]:
    return [
        Entry(part="client", path=str(path), digest=of_client(content).digest)
        for path, content in files.items()
    ]


def _key(change: Change) -> tuple[str, str]:
    return str(change.part.path), change.agent.name


def _broken(file: Found, error: FormError) -> Refusal:
    return Refusal(f"{file.path}, {error}: nothing was changed, mend the file and try again")
