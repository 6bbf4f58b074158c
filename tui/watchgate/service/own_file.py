"""A small file of ours alone: read only while nobody else could have written it, replaced whole."""

from __future__ import annotations

import os
import stat
from pathlib import Path

READ_BYTES = 16 * 1024 * 1024


def read(path: Path) -> bytes:
    """What is in it; raises `OSError`, also for one that is not a plain 0600 file of this user."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if status.st_mode != stat.S_IFREG | 0o600 or status.st_uid != os.geteuid():
            raise PermissionError(0, "others own it or could have written it")
        return file.read(READ_BYTES)


def replace(path: Path, content: bytes) -> None:
    """Write it to disk, in one step and with mode 0600. Raises `OSError`."""
    fresh = path.with_name(path.name + ".new")
    fresh.unlink(missing_ok=True)
    # Exclusive, so that nothing that was put there is written through.
    descriptor = os.open(fresh, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        os.fchmod(descriptor, 0o600)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    fresh.replace(path)
    # What was taken back must not be there again after a power cut.
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
