"""`installed.json` in the data directory: the list of what we put where, with digests.

A change that others make shows against it. Written by `install` and `uninstall` alone, with
mode 0600. It holds digests, never contents.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service import own_file
from watchgate.service.integrity.looked import says_nothing
from watchgate.service.integrity.measure import is_bytecode


class Entry(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True
):
    """One file and the digest of what is ours in it.

    Of an agent's file, `agent` is its name, `events` those that have an entry, and `root` the
    project that the file belongs to, empty for one of the user's own.
    """

    part: Literal["hooks", "client"]
    path: str
    digest: str
    agent: str = ""
    events: tuple[str, ...] = ()
    root: str = ""

    def __post_init__(self) -> None:
        if not self.path.startswith("/") or "\0" in self.path + self.root:
            raise ValueError(f"{self.path!r} is no place of a file")

    @property
    def key(self) -> tuple[str, str]:
        """Returns its path and agent: two agents may share a file."""
        return self.path, self.agent


class _Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    version: Literal[1]
    entries: tuple[Entry, ...] = ()


class ManifestError(Exception):
    """The list of what was installed cannot be used; the message says why."""


def load(path: Path) -> tuple[Entry, ...] | None:
    """Reads the list of what was installed; None where there is no such list.

    Raises `ManifestError`, and `OSError` that `says_nothing` of the list.
    """
    try:
        return decoding.decode(own_file.read(path), _Manifest).entries
    except FileNotFoundError:
        return None
    except OSError as fault:
        if says_nothing(fault):
            raise
        raise ManifestError(f"{path}: {fault.strerror or fault}") from None
    except JSON_FAULTS as fault:
        raise ManifestError(f"{path}: {fault}") from None


def load_or_fault(path: Path) -> tuple[tuple[Entry, ...], str]:
    """Reads the list of what was installed, if any; and why it cannot be read, or ""."""
    try:
        return load(path) or (), ""
    except (ManifestError, OSError) as fault:
        return (), str(fault)


def note(path: Path, made: Iterable[Entry], gone: Collection[tuple[str, str]] = ()) -> None:
    """Adds entries that were written, and removes the entries (path, agent) that are `gone`.

    A list that cannot be read is kept beside, with another ending, and begun anew: what it had
    named is named again when it is installed again. The bytecode of the client is noted anew with
    the client, whose files are forgotten with the last hooks. Raises `OSError`.
    """
    made = tuple(made)
    with _locked(path):
        try:
            known = load(path) or ()
        except ManifestError:
            known = ()
            unread(path).unlink(missing_ok=True)
            unread(path).hardlink_to(path)
        anew = any(entry.part == "client" for entry in made)
        entries = {
            entry.key: entry
            for entry in known
            if entry.key not in gone and not (anew and is_bytecode(entry.path))
        }
        entries |= {entry.key: entry for entry in made}
        if all(entry.part == "client" for entry in entries.values()):
            entries = {}
        listed = _Manifest(version=1, entries=tuple(sorted(entries.values(), key=lambda e: e.key)))
        own_file.replace(path, msgspec.json.format(msgspec.json.encode(listed)))


def unread(path: Path) -> Path:
    """Returns the path at which a list that could not be read is put aside."""
    return path.with_name(f"{path.name}.unread")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lets one process at a time in: two installations must not lose each other's entries."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    lock = os.open(path.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
    finally:
        os.close(lock)
