"""The end of all installations: the client, its bytecode, the backups, the list and the folders.

What was recorded and configured goes only where a person wants that, too.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec

from watchgate.link.paths import APP, Paths
from watchgate.service.detached import answers
from watchgate.service.integrity import manifest, seen
from watchgate.service.setup import client_copy, files
from watchgate.service.setup.backup import Backup

CORE_LOOKS_S = 6.0
"""A core looks at the list every two seconds; one that does not in this time hangs."""
_POLL_S = 0.1


class Left(msgspec.Struct, frozen=True):
    """What became of our own files: those that stay after all, with the reason."""

    removed: tuple[Path, ...]
    stays: tuple[tuple[Path, str], ...] = ()


def note_folders(places: Paths) -> None:
    """Remember, before the client is written, which folders are not there yet. Raises `OSError`."""
    made = tuple(map(str, files.missing_directories(places.client)))
    # Itself, as what makes a folder below it leaves it open to others.
    places.data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    if made:
        Backup(places.backups, places.client).keep(None, b"", made)


def leave(places: Paths) -> Left:
    """Remove all that installations brought along beside the agents' files.

    Only to be called when no hook is left that runs the client. What somebody else put into our
    folder stays, and the folder with it.
    """
    note = Backup(places.backups, places.client).note()
    made = [Path(each) for each in note.made] if note is not None else []
    stays: list[tuple[Path, str]] = []
    removed: list[Path] = []
    unlisted = _forget(places)
    for path in _own(places):
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
    for folder in (client_copy.bytecode_directory(places), places.backups, places.data_dir, *made):
        try:
            folder.rmdir()
        except OSError:
            continue  # there is none, or somebody has files in it
    return Left(tuple(removed), tuple(stays))


def records(places: Paths) -> tuple[Path, ...]:
    """Return what holds records, rights and configuration, as far as it is there."""
    config = places.config
    # A file that WATCHGATE_CONFIG names may lie among those of others.
    settings = (config.parent,) if config.parent.name == APP else (config, places.policy)
    own = (places.state_dir, *settings, places.runtime_dir)
    return tuple(path for path in own if path.exists())


def purge(places: Paths, home: Path) -> Left:
    """Remove all records, and the folders in `home` that are empty then. No core may run."""
    removed, stays = [], []
    for path in records(places):
        try:
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        except FileNotFoundError:
            continue  # it lay in a folder that has gone before it
        except OSError as fault:
            stays.append((path, fault.strerror or str(fault)))
            continue
        removed.append(path)
        _remove_empty(path.parent, home)
    return Left(tuple(removed), tuple(stays))


def _remove_empty(folder: Path, home: Path) -> None:
    while home in folder.parents:
        try:
            folder.rmdir()
        except OSError:
            return
        folder = folder.parent


def _own(places: Paths) -> Iterator[Path]:
    """Every file of ours, the list last."""
    yield from client_copy.packaged(places)
    yield from client_copy.cached(places)
    yield places.native_client
    yield places.program
    yield from sorted(places.backups.glob("*.json"))
    yield from sorted(places.backups.glob("*.before"))
    yield places.installed.with_suffix(".lock")
    yield places.installed


def _forget(places: Paths) -> bool:
    """Empty the list, and see to it that no core takes its end for somebody else's deed."""
    try:
        listed = manifest.load(places.installed) or ()
        if listed:
            manifest.note(places.installed, (), {entry.key for entry in listed})
    except (manifest.ManifestError, OSError):
        pass  # a list that nobody can read tells a core nothing
    end = time.monotonic() + CORE_LOOKS_S
    while seen.load(places.integrity)[0].entries:
        if not answers(places):
            return _next_core_knows(places)
        if time.monotonic() > end:
            return False
        time.sleep(_POLL_S)
    return True


def _next_core_knows(places: Paths) -> bool:
    known, _fault = seen.load(places.integrity)
    try:
        seen.save(places.integrity, msgspec.structs.replace(known, entries=()))
    except OSError:
        return False
    return True
