"""Reads whole lines of a file that an agent writes; nothing on the disk can hold up the reader."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

LINE_BYTES = 64 * 1024 * 1024
"""A longer line, or a file of one value, is passed over."""

_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY


class NotOursError(Exception):
    """It is no regular file of this user."""


def behind_hole(descriptor: int, start: int, end: int) -> int:
    """Returns where data goes on at `start` or after it: a file of terabytes can be a hole."""
    try:
        return min(os.lseek(descriptor, start, os.SEEK_DATA), end)
    except OSError as fault:
        # Where the disk cannot tell, all of it is taken to have been written.
        return end if fault.errno == errno.ENXIO else start


@contextmanager
def opened(path: str) -> Iterator[tuple[int, os.stat_result]]:
    """Yields a descriptor of it and its status; raises `OSError` and `NotOursError`.

    A link is not followed, a pipe not waited for, and a file of another user not read.
    """
    descriptor = os.open(path, _FLAGS)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.geteuid():
            raise NotOursError(path)
        yield descriptor, about
    finally:
        os.close(descriptor)
