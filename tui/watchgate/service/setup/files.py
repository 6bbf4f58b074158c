"""Reads and replaces an agent's own file that holds hooks: whole or not at all."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterable
from pathlib import Path

import msgspec

from watchgate.service import regular_file
from watchgate.service.setup.targets import Refusal

_NEW_FILE_MODE = 0o600
_SCRIPT_MODE = 0o700
_BOM = b"\xef\xbb\xbf"


class Found(msgspec.Struct, frozen=True):
    """A file as it was read: the real path behind links, and its bytes (None: no such file)."""

    path: Path
    content: bytes | None
    version: tuple[int, int, int] | None

    @property
    def text(self) -> str:
        """Returns the text, without a byte order mark; raises `Refusal` if not UTF-8."""
        try:
            return (self.content or b"").removeprefix(_BOM).decode()
        except UnicodeDecodeError as error:
            raise Refusal(
                f"{self.path} is not UTF-8 ({error.reason}): nothing was changed"
            ) from error

    def encode(self, text: str) -> bytes:
        """Returns the bytes of a new text, with the mark that the old one had."""
        return (_BOM if (self.content or b"").startswith(_BOM) else b"") + text.encode()


def read(path: Path) -> Found:
    """Reads the file behind a path; raises `Refusal` when it cannot be read."""
    try:
        real = path.resolve()
        return Found(real, regular_file.read(real), _version(real))
    except FileNotFoundError:
        return Found(path.resolve(), None, None)
    except (OSError, RuntimeError) as error:
        raise Refusal(f"cannot read {path}: {_why(error)}") from error


def check_writable(file: Found) -> None:
    """Raises `Refusal` when the file, or the folder for a new version, is read-only."""
    path = file.path
    if file.content is not None and not path.stat().st_mode & stat.S_IWUSR:
        raise Refusal(f"{path} is read-only: chmod u+w it first, nothing was changed")
    parent = path.parent
    while not parent.exists():
        parent = parent.parent
    if not parent.is_dir() or not os.access(parent, os.W_OK | os.X_OK):
        raise Refusal(f"{parent} cannot be written to: nothing was changed")


def write(file: Found, content: bytes, *, executable: bool = False) -> None:
    """Replaces the file in one step; raises `Refusal` when it changed since then."""
    path = file.path
    check_writable(file)
    if _version(path) != file.version:
        raise Refusal(f"{path} changed while it was edited: nothing was written, try again")
    try:
        replace(path, content, _SCRIPT_MODE if executable else _NEW_FILE_MODE)
    except OSError as error:
        raise Refusal(f"cannot write {path}: {_why(error)}") from error


def let_run(path: Path) -> None:
    """Gives the owner the right to run a script, where somebody took it."""
    mode = path.stat().st_mode
    if not mode & stat.S_IXUSR:
        path.chmod(stat.S_IMODE(mode) | stat.S_IXUSR)


def delete(file: Found) -> None:
    """Removes the file; raises `Refusal` when it changed since it was read."""
    if _version(file.path) != file.version:
        raise Refusal(f"{file.path} changed meanwhile: nothing was deleted, try again")
    try:
        file.path.unlink()
    except OSError as error:
        raise Refusal(f"cannot delete {file.path}: {_why(error)}") from error


def missing_directories(path: Path) -> tuple[Path, ...]:
    """Returns the directories above a path that are not there, the innermost first."""
    missing = []
    while not (path := path.parent).exists():
        missing.append(path)
    return tuple(missing)


def remove_directories(paths: Iterable[Path]) -> None:
    """Removes those that hold nothing but cached bytecode; the innermost have to come first."""
    for path in paths:
        if path.is_dir() and {each.name for each in path.iterdir()} <= {"__pycache__"}:
            shutil.rmtree(path)


def replace(path: Path, content: bytes, mode: int = _NEW_FILE_MODE) -> None:
    """Writes a file whole: beside it first, then over it; an old file's mode and owner win."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    old = path.stat() if path.exists() else None
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            if old is not None and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), old.st_uid, old.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(old.st_mode) if old else mode)
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:  # Ctrl-C, too: what was begun may hold all that the file does
        Path(name).unlink(missing_ok=True)
        raise


def _version(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


def _why(error: OSError | RuntimeError) -> str:
    return getattr(error, "strerror", None) or str(error)
