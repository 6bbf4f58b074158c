"""Backups of the files that hold hooks: the content before the first entry, for uninstall."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.service.setup import agent_files


class BackupNote(msgspec.Struct, frozen=True, kw_only=True):
    """One edited file: the hash of what we wrote, and what the file had been.

    `existed` false means that there was no file; `made` are directories that were not there either,
    the innermost first.
    """

    path: str
    written_sha256: str
    existed: bool
    made: tuple[str, ...] = ()


def backed_up(directory: Path) -> set[Path]:
    """Returns every file that has a backup here."""
    notes = (_decoded(each) for each in directory.glob("*.json"))
    return {Path(note.path) for note in notes if note is not None}


class Backup:
    """The backup of one file, in two files of our data directory: the old bytes, and a note."""

    def __init__(self, directory: Path, path: Path) -> None:
        self._path = path
        name = sha256(bytes(path)).hexdigest()[:16]
        self._note = directory / f"{name}.json"
        self.before = directory / f"{name}.before"

    def note(self) -> BackupNote | None:
        """Returns the note about the file, whatever became of it since; None without one."""
        return self._read()

    def old(self) -> bytes | None:
        """Returns the content before the first entry; None without a file then or a copy now."""
        note = self._read()
        if note is None or not note.existed:
            return None
        try:
            return self.before.read_bytes()
        except FileNotFoundError:
            return None

    def restores(self, content: bytes | None) -> BackupNote | None:
        """Returns the note if this content is what we wrote and the old bytes are still there."""
        note = self._read()
        if note is None or content is None or note.written_sha256 != _hash(content):
            return None
        return note if self.old() is not None or not note.existed else None

    def keep(self, before: bytes | None, written: bytes, made: tuple[str, ...]) -> None:
        """Stores a file's old bytes (None: there was none) and the hash of those to be written."""
        note = BackupNote(
            path=str(self._path),
            written_sha256=_hash(written),
            existed=before is not None,
            made=made,
        )
        agent_files.replace(self.before, before or b"")
        agent_files.replace(self._note, msgspec.json.encode(note))

    def drop(self) -> None:
        """Forgets the backup."""
        self._note.unlink(missing_ok=True)
        self.before.unlink(missing_ok=True)

    def _read(self) -> BackupNote | None:
        return _decoded(self._note)


def _decoded(path: Path) -> BackupNote | None:
    try:
        return decoding.decode(path.read_bytes(), BackupNote)
    except (FileNotFoundError, *JSON_FAULTS):
        return None


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()
