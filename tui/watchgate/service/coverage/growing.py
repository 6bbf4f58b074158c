"""Follows agents' transcripts, and reports the calls in them that no hook reported.

A call is in its transcript once it has run, and a gate was asked before that: a call that no
hook has reported half a second after its result was found has passed no gate. That a person
broke a turn off is reported at once. OpenCode's calls come from its database.
"""

from __future__ import annotations

import os
import stat

CHUNK_BYTES = 4 * 1024 * 1024
"""At most so much is read at once; the rest comes next, and a longer line is passed over."""


HEAD_BYTES = 1024 * 1024
"""A first line may hold instructions for the model; a longer one is passed over."""


def first_line(path: str) -> bytes:
    """Returns a file's first line with its newline; empty if it has none or is not ours."""
    content, _upto = _read(path, 0, HEAD_BYTES)
    return content[: content.find(b"\n") + 1]


def read_on(path: str, offset: int) -> tuple[bytes, int]:
    """Returns the whole lines behind `offset`, and the offset of the next reading.

    Both are as before where there is no such file. A file that is shorter now begins anew.
    """
    content, start = _read(path, offset, CHUNK_BYTES)
    end = content.rfind(b"\n") + 1
    if not end and len(content) == CHUNK_BYTES:
        return b"", start + CHUNK_BYTES  # one line longer than anything that is read
    return content[:end], start + end


def _read(path: str, offset: int, limit: int) -> tuple[bytes, int]:
    """Returns at most `limit` bytes from `offset`, and the offset at which they begin.

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
        return os.pread(descriptor, limit, start), start
    except OSError:
        return b"", offset
    finally:
        os.close(descriptor)
