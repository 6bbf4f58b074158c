"""A small file of ours alone: read only while nobody else could have written it, replaced whole."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from watchgate.service import regular_file


def read(path: Path) -> bytes:
    """Returns its content; raises `OSError`, also where it is no plain 0600 file of this user."""
    with regular_file.opened(path, os.O_NOFOLLOW) as (file, status):
        if status.st_mode != stat.S_IFREG | 0o600 or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "others own it or could have written it")
        return file.read(regular_file.READ_BYTES)


def replace(path: Path, content: bytes) -> None:
    """Writes it to disk, in one step and with mode 0600. Raises `OSError`."""
    os.close(made(path, content))


def made(path: Path, content: bytes) -> int:
    """Replaces it and returns a descriptor of the new file, for reading and writing on."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    # Exclusive, so that nothing that was put there is written through.
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        with os.fdopen(descriptor, "wb", closefd=False) as file:
            file.write(content)
        # Without this a power cut may leave the new name with no content.
        os.fsync(descriptor)
        fresh.replace(path)
        _sync_folder(path.parent)
    except OSError:
        os.close(descriptor)
        raise
    return descriptor


def _sync_folder(folder: Path) -> None:
    # What was taken back must not be there again after a power cut.
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
