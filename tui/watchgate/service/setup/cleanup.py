"""Removes what installations left: the client, its bytecode, backups, the list, the folders.

What was recorded and configured goes only where a person wants that, too.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from watchgate.link.paths import USAGE_CACHE, Paths
from watchgate.service.prices.price_files import FETCHED as PRICES
from watchgate.service.prices.price_files import RESOLVED as TARIFFS
from watchgate.service.setup import agent_files, hook_client, manifest
from watchgate.service.setup.backup import Backup
from watchgate.service.system.detached_core import answers

CORE_LOOKS_S = 6.0
"""A core looks at the list every two seconds; one that does not in this time hangs."""
_POLL_S = 0.1
_OF_SQLITE = ("", "-wal", "-shm", "-journal")
_CACHED = re.compile(r"[0-9a-f]{32}|tmp[a-z0-9_]{8}")
"""The names in the cache of usage, and of what was being written to it."""


class Removal(msgspec.Struct, frozen=True):
    """The files of ours that were removed, and those that stay, with the reason."""

    removed: tuple[Path, ...]
    stays: tuple[tuple[Path, str], ...] = ()


def note_folders(places: Paths) -> None:
    """Notes, before the client is written, which folders are missing. Raises `OSError`."""
    made = tuple(map(str, agent_files.missing_directories(places.client)))
    # Itself, as what makes a folder below it leaves it open to others.
    places.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if made:
        Backup(places.backups, places.client).keep(None, b"", made)


def remove_client(places: Paths) -> Removal:
    """Removes all that installations brought along beside the agents' files.

    Only to be called when no hook is left that runs the client. What somebody else put into our
    folder stays, and the folder with it.
    """
    note = Backup(places.backups, places.client).note()
    made = [Path(each) for each in note.made] if note is not None else []
    stays: list[tuple[Path, str]] = []
    removed: list[Path] = []
    unlisted = _forget(places)
    for path in _client_paths(places):
        if path == places.installed and not unlisted:
            stays.append((path, "the core that runs has not looked at it, and would miss it"))
            continue
        try:
            path.unlink()
        except FileNotFoundError:
            continue
        except OSError as fault:
            stays.append((path, fault.strerror or str(fault)))
            continue
        removed.append(path)
    for folder in (hook_client.bytecode_directory(places), places.backups, places.data_dir, *made):
        try:
            folder.rmdir()
        except OSError:
            continue  # there is none, or somebody has files in it
    return Removal(tuple(removed), tuple(stays))


def record_files(places: Paths) -> tuple[Path, ...]:
    """Returns every file of records, rights and configuration that is there.

    They are told by their names, never by their folder: a variable may have it among others' files.
    """
    state, named = places.state_dir, (places.config, places.policy, places.off, places.core_lock)
    rights = (places.grants, places.pin, places.pin_tries, places.tokens, places.agents)
    files = [
        *named,
        *rights,
        places.integrity,
        places.core_log,
        state / TARIFFS,
        places.data_dir / PRICES,
    ]
    # A file that was being written, or could not be read, has an ending more.
    ends = ("", ".new", ".unread")
    own = [path.with_name(path.name + end) for path in files for end in ends]
    logged = [places.journal.with_suffix(end) for end in (".db", ".index.db", ".head")]
    own += [path.with_name(path.name + end) for path in logged for end in _OF_SQLITE]
    own += [path for path in (state / USAGE_CACHE).glob("*") if _CACHED.fullmatch(path.name)]
    own += (places.ingest_socket, places.control_socket)
    return tuple(path for path in own if path.is_symlink() or path.exists())


def remove_records(places: Paths, home: Path) -> Removal:
    """Removes all records, and the folders of ours that are empty then, up to `home`.

    No core may run. What somebody else put into a folder of ours stays, and the folder with it.
    """
    removed, stays = [], []
    for path in record_files(places):
        try:
            path.unlink(missing_ok=True)
        except OSError as fault:
            stays.append((path, fault.strerror or str(fault)))
            continue
        removed.append(path)
    for folder in _folders(places):
        if folder.is_dir():
            _remove_empty(folder, home)
    return Removal(tuple(removed), tuple(stays))


def files_of_others(places: Paths, ours: Iterable[Path]) -> dict[Path, list[str]]:
    """Returns files that are not `ours`, by the folder of records that stays for them."""
    gone = set(ours)
    others: dict[Path, list[str]] = {}
    for folder in _folders(places):
        try:
            names = sorted(each.name for each in folder.iterdir() if each not in gone)
        except FileNotFoundError:
            continue
        except OSError as fault:
            names = [fault.strerror or str(fault)]
        if names:
            others[folder] = names
        else:
            gone.add(folder)
    return others


def _folders(places: Paths) -> tuple[Path, ...]:
    """Returns every folder of records, rights and configuration, the innermost first."""
    state = places.state_dir
    return state / USAGE_CACHE, places.runtime_dir, state, places.config.parent, places.data_dir


def _remove_empty(folder: Path, home: Path) -> None:
    """Removes a folder that is empty, and those above it in `home` that are empty then."""
    while True:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent
        if home not in folder.parents:
            return


def client_files(places: Paths) -> Iterator[Path]:
    """Yields every file and folder of ours beside the agents' files that is there."""
    folders = (places.backups, hook_client.bytecode_directory(places))
    yield from (
        path for path in (*_client_paths(places), *folders) if path.is_symlink() or path.exists()
    )


def _client_paths(places: Paths) -> Iterator[Path]:
    """Yields every file of ours, the list last."""
    yield from hook_client.packaged_copy(places)
    yield from hook_client.cached_bytecode(places)
    yield places.native_client
    yield places.program
    yield from sorted(places.backups.glob("*.json"))
    yield from sorted(places.backups.glob("*.before"))
    yield places.installed.with_suffix(".lock")
    yield manifest.unread_path(places.installed)
    yield places.installed


def _forget(places: Paths) -> bool:
    """Empties the list, and waits until no core takes that for somebody else's deed."""
    # One that nobody can read tells a core nothing.
    if listed := manifest.load_or_fault(places.installed)[0]:
        with suppress(OSError):
            manifest.update_manifest(places.installed, (), {entry.key for entry in listed})
    end = time.monotonic() + CORE_LOOKS_S
    while manifest.load_snapshot(places.integrity)[0].entries:
        if not answers(places):
            return _next_core_knows(places)
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def _next_core_knows(places: Paths) -> bool:
    known, _fault = manifest.load_snapshot(places.integrity)
    try:
        manifest.save_snapshot(places.integrity, msgspec.structs.replace(known, entries=()))
    except OSError:
        return False
    return True
