"""Reading a path where anything may lie: a pipe is not waited for, no folder stays open."""

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
def opened(path: Path, flags: int = 0) -> Iterator[tuple[BinaryIO, os.stat_result]]:
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


def read(path: Path) -> bytes:
    """Returns its content; raises `OSError`, also for one of more than `READ_BYTES`."""
    with opened(path) as (file, _):
        content = file.read(READ_BYTES + 1)
    if len(content) > READ_BYTES:
        raise OSError(errno.EFBIG, TOO_LARGE)
    return content
