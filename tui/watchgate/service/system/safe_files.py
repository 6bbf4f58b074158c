"""Reading a path where anything may lie: a pipe is not waited for, no folder stays open.

- A small file of ours alone: read only while nobody else could have written it, replaced whole.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

READ_BYTES = 16 * 1024 * 1024
TOO_LARGE = f"it is larger than {READ_BYTES // 1024 // 1024} MiB"


class NotRegularError(OSError):
    """A folder, a pipe or a device lies there."""


@contextmanager
def open_regular_file(path: Path, flags: int = 0) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Opens the file to read; yields it with its status; raises `OSError`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise NotRegularError(errno.EINVAL, "it is no regular file")
        with open(descriptor, "rb", closefd=False) as file:
            yield file, about
    finally:
        os.close(descriptor)


def read_regular_file(path: Path) -> bytes:
    """Returns its content; raises `OSError`, also for one of more than `READ_BYTES`."""
    with open_regular_file(path) as (file, _):
        content = file.read(READ_BYTES + 1)
    if len(content) > READ_BYTES:
        raise OSError(errno.EFBIG, TOO_LARGE)
    return content


def read_own_file(path: Path) -> bytes:
    """Returns its content; raises `OSError`, also where it is no plain 0600 file of this user."""
    with open_regular_file(path, os.O_NOFOLLOW) as (file, status):
        if status.st_mode != stat.S_IFREG | 0o600 or status.st_uid != os.geteuid():
            raise PermissionError(errno.EPERM, "others own it or could have written it")
        return file.read(READ_BYTES)


def replace_own_file(path: Path, content: bytes) -> None:
    """Writes it to disk, in one step and with mode 0600. Raises `OSError`."""
    os.close(make_own_file(path, content))


def make_own_file(path: Path, content: bytes) -> int:
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
