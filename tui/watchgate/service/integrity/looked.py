"""One file as a look finds it: its stamp, and what is in it or why that cannot be read."""

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
    """What tells one state of a file from another; its times can be set, when it changed cannot."""

    ctime_ns: int
    mtime_ns: int
    size_bytes: int
    inode: int
    mode: int


class Looked(msgspec.Struct, frozen=True):
    """What is in a file (None: there is none, or `fault` says why it cannot be read).

    `runs` says that its owner may run it.
    """

    content: bytes | None
    fault: str = ""
    runs: bool = False


def says_nothing(fault: OSError) -> bool:
    """Whether a failure is the machine's or the network's, and tells nothing of the file."""
    return fault.errno in _ELSEWHERE


def stamp_of(path: Path) -> Stamp | None:
    """The stamp; None where no file can be reached. Raises `OSError` that `says_nothing`."""
    try:
        found = path.stat()
    except OSError as fault:
        if says_nothing(fault):
            raise
        return None
    return Stamp(found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino, found.st_mode)


def looked_at(path: Path) -> Looked:
    """The file as it is. Raises `OSError` that `says_nothing`."""
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
