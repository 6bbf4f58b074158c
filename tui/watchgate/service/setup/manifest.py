"""`installed.json` in the data directory: the list of what we put where, with digests.

A change that others make shows against it. Written by `install` and `uninstall` alone, with
mode 0600. It holds digests, never contents.

Looks at a file that the gate rests on, and digests what is ours in it.

- `integrity.json` in the state directory: what the newest core knew, for the one after it. A change
  that is made while no core runs shows against it, also when the list of what was installed goes
  the same way.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path, PurePath
from typing import Literal

import msgspec

from watchgate.agents.base import Setup
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.records import TamperedData
from watchgate.link.paths import UNINSTALLER
from watchgate.service.setup.forms import json_table
from watchgate.service.setup.forms.editor_choice import WholeFileEditor, editor_of
from watchgate.service.setup.forms.form_editor import Editor, FormError
from watchgate.service.setup.forms.json_table import JsonTable
from watchgate.service.system import safe_files
from watchgate.service.system.safe_files import READ_BYTES, TOO_LARGE

_GONE = (errno.ENOENT, errno.ENOTDIR)
_ELSEWHERE = frozenset(
    {
        errno.EIO,
        errno.ESTALE,
        errno.ETIMEDOUT,
        errno.ENOTCONN,
        errno.EHOSTDOWN,
        errno.EHOSTUNREACH,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    }
)


class FileStamp(msgspec.Struct, frozen=True):
    """The properties that tell one state of a file from another; nobody can set its ctime."""

    ctime_ns: int
    mtime_ns: int
    size_bytes: int
    inode: int
    mode: int


class FileContent(msgspec.Struct, frozen=True):
    """The content of a file; None where there is none, or where `fault` says why it is unreadable.

    `runs` says that its owner may run it.
    """

    content: bytes | None
    fault: str = ""
    runs: bool = False


def is_machine_fault(fault: OSError) -> bool:
    """Returns whether a failure is the machine's or the network's, and not about the file."""
    return fault.errno in _ELSEWHERE


def stamp_of(path: Path) -> FileStamp | None:
    """Returns the stamp; None without a file. Raises `OSError` that `is_machine_fault`."""
    try:
        status = path.stat()
    except OSError as fault:
        if is_machine_fault(fault):
            raise
        return None
    return FileStamp(
        status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
    )


def looked_at(path: Path) -> FileContent:
    """Reads the file as it is. Raises `OSError` that `is_machine_fault`."""
    try:
        with safe_files.open_regular_file(path) as (file, about):
            content = file.read(READ_BYTES + 1)
    except safe_files.NotRegularError:
        return FileContent(None, "it is no file")
    except OSError as fault:
        if is_machine_fault(fault):
            raise
        return FileContent(None, "" if fault.errno in _GONE else os.strerror(fault.errno or 0))
    if len(content) > READ_BYTES:
        return FileContent(None, TOO_LARGE)
    return FileContent(content, runs=bool(about.st_mode & stat.S_IXUSR))


BOM = b"\xef\xbb\xbf"


class Measured(msgspec.Struct, frozen=True):
    """The digest, the events that have an entry of ours, and why none could be read."""

    digest: str
    events: tuple[str, ...] = ()
    fault: str = ""


def measure_client(content: bytes) -> Measured:
    """Measures a file of the hook client, whole."""
    return Measured(sha256(content).hexdigest())


def is_bytecode(path: str) -> bool:
    """Returns whether this is the compiled client, which hooks can do without."""
    return path.endswith(".pyc")


def is_uninstaller(path: str) -> bool:
    """Returns whether this is the script that a person runs once the program is gone."""
    return path.endswith(f"/{UNINSTALLER}")


def measure_hooks(setup: Setup, path: str, content: bytes) -> Measured:
    """Measures our entries in an agent's file, with the switches that its hooks need."""
    edits = _editor(setup, path)
    try:
        text = content.removeprefix(BOM).decode()
        table = edits.ours_alone(text) if isinstance(edits, JsonTable) else edits.ours(text)
        unset = (
            json_table.missing_switches(text, setup)
            if table and isinstance(edits, JsonTable)
            else ()
        )
    except UnicodeDecodeError as fault:
        return Measured(sha256(content).hexdigest(), fault=f"it is not UTF-8 ({fault.reason})")
    except (FormError, ValueError) as fault:
        return Measured(sha256(content).hexdigest(), fault=str(fault))
    # Whatever a file may hold: half a character, endless numbers, the dates of TOML.
    view = json.dumps([table, unset], sort_keys=True, default=str)
    return Measured(sha256(view.encode()).hexdigest(), tuple(table))


def _editor(setup: Setup, path: str) -> Editor:
    """Returns the editor by which this file was written; a script's name is its event."""
    name = PurePath(path).name
    if setup.form == "plugin" or name in {Path(each).name for each in setup.manifests}:
        return WholeFileEditor("")
    return editor_of(setup, event=name)


class InstalledFile(
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
    entries: tuple[InstalledFile, ...] = ()


class ManifestError(Exception):
    """The list of what was installed cannot be used; the message says why."""


def load_manifest(path: Path) -> tuple[InstalledFile, ...] | None:
    """Reads the list of what was installed; None where there is no such list.

    Raises `ManifestError`, and `OSError` that `is_machine_fault` of the list.
    """
    try:
        return decoding.decode(safe_files.read_own_file(path), _Manifest).entries
    except FileNotFoundError:
        return None
    except OSError as fault:
        if is_machine_fault(fault):
            raise
        raise ManifestError(f"{path}: {fault.strerror or fault}") from None
    except JSON_FAULTS as fault:
        raise ManifestError(f"{path}: {fault}") from None


def load_or_fault(path: Path) -> tuple[tuple[InstalledFile, ...], str]:
    """Reads the list of what was installed, if any; and why it cannot be read, or ""."""
    try:
        return load_manifest(path) or (), ""
    except (ManifestError, OSError) as fault:
        return (), str(fault)


def update_manifest(
    path: Path, made: Iterable[InstalledFile], gone: Collection[tuple[str, str]] = ()
) -> None:
    """Adds entries that were written, and removes the entries (path, agent) that are `gone`.

    A list that cannot be read is kept beside, with another ending, and begun anew: what it had
    named is named again when it is installed again. The bytecode of the client is noted anew with
    the client, whose files are forgotten with the last hooks. Raises `OSError`.
    """
    made = tuple(made)
    with _locked(path):
        try:
            known = load_manifest(path) or ()
        except ManifestError:
            known = ()
            unread_path(path).unlink(missing_ok=True)
            unread_path(path).hardlink_to(path)
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
        safe_files.replace_own_file(path, msgspec.json.format(msgspec.json.encode(listed)))


def unread_path(path: Path) -> Path:
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


class IntegritySnapshot(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A core's knowledge: entries installed, alarms reported, digests of the policy in force."""

    version: Literal[1] = 1
    entries: tuple[InstalledFile, ...] = ()
    reported: tuple[TamperedData, ...] = msgspec.field(name="told", default=())
    policy: dict[str, str] = {}


def load_snapshot(path: Path) -> tuple[IntegritySnapshot, str]:
    """Reads what an earlier core knew, empty where there was none; and why it cannot be read."""
    try:
        return decoding.decode(safe_files.read_own_file(path), IntegritySnapshot), ""
    except FileNotFoundError:
        return IntegritySnapshot(), ""
    except OSError as fault:
        return IntegritySnapshot(), f"{path}: {fault.strerror or fault}"
    except JSON_FAULTS as fault:
        return IntegritySnapshot(), f"{path}: {fault}"


def save_snapshot(path: Path, snapshot: IntegritySnapshot) -> None:
    """Writes it for the next core. Raises `OSError`."""
    safe_files.replace_own_file(path, msgspec.json.format(msgspec.json.encode(snapshot)))
