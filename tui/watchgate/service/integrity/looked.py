"""Looks at a file that the gate rests on, and digests what is ours in it."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import msgspec

from watchgate.service import regular_file
from watchgate.service.regular_file import READ_BYTES, TOO_LARGE

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


class Stamp(msgspec.Struct, frozen=True):
    """The properties that tell one state of a file from another; nobody can set its ctime."""

    ctime_ns: int
    mtime_ns: int
    size_bytes: int
    inode: int
    mode: int


class Looked(msgspec.Struct, frozen=True):
    """The content of a file; None where there is none, or where `fault` says why it is unreadable.

    `runs` says that its owner may run it.
    """

    content: bytes | None
    fault: str = ""
    runs: bool = False


def says_nothing(fault: OSError) -> bool:
    """Returns whether a failure is the machine's or the network's, and not about the file."""
    return fault.errno in _ELSEWHERE


def stamp_of(path: Path) -> Stamp | None:
    """Returns the stamp; None if no file can be reached. Raises `OSError` that `says_nothing`."""
    try:
        status = path.stat()
    except OSError as fault:
        if says_nothing(fault):
            raise
        return None
    return Stamp(
        status.st_ctime_ns, status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode
    )


def looked_at(path: Path) -> Looked:
    """Reads the file as it is. Raises `OSError` that `says_nothing`."""
    try:
        with regular_file.opened(path) as (file, about):
            content = file.read(READ_BYTES + 1)
    except regular_file.NotRegularError:
        return Looked(None, "it is no file")
    except OSError as fault:
        if says_nothing(fault):
            raise
        return Looked(None, "" if fault.errno in _GONE else os.strerror(fault.errno or 0))
    if len(content) > READ_BYTES:
        return Looked(None, TOO_LARGE)
    return Looked(content, runs=bool(about.st_mode & stat.S_IXUSR))
