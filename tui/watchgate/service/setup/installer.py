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
    """What the configuration says about hooks: the profile, the client's deadline and margin.

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
    """Return what this configuration says.

    Hooks run the native client where that works here, which is tried where `native` is not given.
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
        """Every file of an installation with what is ours in it; raises `Refusal`."""
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
        """The edits that bring our entries in, or up to date; raises `Refusal`."""
        found = self.parts(agent, scope, setting, python)
        return tuple(self._install_plan(agent, part) for part in found)

    def plan_uninstall(self, agent: Adapter, scope: Scope, python: Path) -> tuple[Change, ...]:
        """The edits that take our entries out: the old bytes where nothing else changed."""
        setting = Setting(profile="guard", client_deadline_s=1)
        found = self.parts(agent, scope, setting, python)
        return tuple(self._uninstall_plan(agent, part) for part in found)

    def install(self, changes: tuple[Change, ...], python: Path, *, native: bool = False) -> None:
        """Makes a planned installation: the client first, then a backup, then the entries."""
        self._write_client(native=native)
        # At once, as compiling takes a while: a core must not take the new client for an alarm.
        self._remember(_client(self._copies(native=native)), ())
        client_copy.renew_bytecode(self._places, python)
        for change in changes:
            files.check_writable(change.found)
        for change in changes:
            if change.needed and change.after is not None:
                self._keep(change, change.after)
                files.write(change.found, change.after, executable=change.part.executable)
            elif change.needed:
                files.delete(change.found)
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
                files.write(change.found, change.after)
            elif change.after is None and change.found.content is not None:
                files.delete(change.found)
        files.remove_directories(sorted(made, key=lambda each: len(each.parts), reverse=True))
        # Only now: who is interrupted before finds the folders by them when it is done again.
        for change in changes:
            if not change.left:
                self._backup(change.found).drop()
        left = [self._entry(change) for change in changes if change.left]
        self._remember(left, {_key(change) for change in changes if not change.left})

    def backup_of(self, change: Change) -> Path | None:
        """Return where the bytes lie that a file had before; None where there was no file."""
        backup = self._backup(change.found)
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
        """Each file of the client and what this version ships for it."""
        own = native_client.packaged() if native else None
        beside = {} if own is None else {self._places.native_client: own}
        return client_copy.packaged(self._places) | beside

    def _note(self, changes: tuple[Change, ...], *, native: bool) -> None:
        """Remember what was written, so that a running core can tell it from what others do."""
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
        found = of_hooks(setup, str(path), change.after or b"")
        return Entry(
            part="hooks",
            path=str(path),
            digest=found.digest,
            agent=change.agent.name,
            events=found.events,
            root="" if path.is_relative_to(home(setup, self._env)) else str(self._cwd),
        )

    def _install_plan(self, agent: Adapter, part: Part) -> Change:
        if not part.table:
            return self._uninstall_plan(agent, part)
        found = files.read(part.path)
        files.check_writable(found)
        try:
            after = part.editor.install(found.text, part.table)
            shown = json_top.status_line(found.text, setup_of(agent))
        except FormError as error:
            raise _broken(found, error) from error
        return Change(
            agent=agent,
            part=part,
            found=found,
            after=found.encode(after),
            status_line=shown,
        )

    def _uninstall_plan(self, agent: Adapter, part: Part) -> Change:
        found = files.read(part.path)
        if found.content is None:
            return Change(agent=agent, part=part, found=found, after=None)
        backup = self._backup(found)
        if backup.restores(found.content) is not None:
            old = backup.old()
            return Change(agent=agent, part=part, found=found, after=old, restored=True)
        try:
            after = self._stripped(agent, part, found)
            displaced = part.editor.displaced(found.text)
        except FormError as error:
            raise _broken(found, error) from error
        if after != found.content:
            files.check_writable(found)
        return Change(agent=agent, part=part, found=found, after=after, displaced=displaced)

    def _stripped(self, agent: Adapter, part: Part, found: Found) -> bytes | None:
        """The file without our entries; None where nothing but ours was ever in it."""
        note, setup = self._backup(found).note(), setup_of(agent)
        old = self._backup(found).old() or b""
        after = part.editor.uninstall(found.text, Found(found.path, old, None).text)
        if after == found.text:
            return found.content
        empty = not after.strip() or json_top.is_alone(after, setup)
        gone = is_folder(setup) or setup.owned or (note is not None and not note.existed)
        if empty and gone and not old:
            return None
        return found.encode(after)

    def _keep(self, change: Change, after: bytes) -> None:
        found, backup = change.found, self._backup(change.found)
        note = backup.restores(found.content)
        if note is not None:
            backup.keep(backup.old(), after, note.made)
            return
        note = backup.note()
        before = None
        if found.content is not None:
            before = self._stripped(change.agent, change.part, found)
        made = note.made if note else tuple(map(str, files.missing_directories(found.path)))
        backup.keep(before, after, made)

    def _made(self, change: Change) -> tuple[str, ...]:
        """The directories that the installation made for a file."""
        note = self._backup(change.found).note()
        return note.made if note else ()

    def _backup(self, found: Found) -> Backup:
        return Backup(self._places.backups, found.path)


def _client(files: Mapping[Path, bytes]) -> list[Entry]:
    return [
        Entry(part="client", path=str(path), digest=of_client(content).digest)
        for path, content in files.items()
    ]


def _key(change: Change) -> tuple[str, str]:
    return str(change.part.path), change.agent.name


def _broken(found: Found, error: FormError) -> Refusal:
    return Refusal(f"{found.path}, {error}: nothing was changed, mend the file and try again")
