"""A file that somebody else writes, read on from where the last reading ended."""

from __future__ import annotations

import os
import stat

CHUNK_BYTES = 4 * 1024 * 1024
"""At most so much is read at once; the rest comes next, and a longer line is passed over."""


HEAD_BYTES = 1024 * 1024
"""A first line may hold instructions for the model; a longer one is passed over."""


def first_line(path: str) -> bytes:
    """The first line of a file, with its end; nothing where it has none, or is not ours."""
    told, _upto = _read(path, 0, HEAD_BYTES)
    return told[: told.find(b"\n") + 1]


def read_on(path: str, offset: int) -> tuple[bytes, int]:
    """The whole lines behind `offset`, and where to read on; nothing where there is no such file.

    A file that is shorter now begins anew.
    """
    told, start = _read(path, offset, CHUNK_BYTES)
    end = told.rfind(b"\n") + 1
    if not end and len(told) == CHUNK_BYTES:
        return b"", start + CHUNK_BYTES  # one line longer than anything that is read
    return told[:end], start + end


def _read(path: str, offset: int, most: int) -> tuple[bytes, int]:
    """At most so many bytes from `offset`, and where they begin.

    The path comes from outside: only a regular file of our own is read, no link, and never one that
    could make us wait.
    """
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY
    try:
        descriptor = os.open(path, flags)
    except (OSError, ValueError):
        return b"", offset
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            return b"", offset
        start = offset if offset <= about.st_size else 0
        return os.pread(descriptor, most, start), start
    except OSError:
        return b"", offset
    finally:
        os.close(descriptor)
