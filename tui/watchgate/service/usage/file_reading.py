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
    """Returns the offset of the next data from `start` on: a file of terabytes can be a hole."""
    try:
        return min(os.lseek(descriptor, start, os.SEEK_DATA), end)
    except OSError as fault:
        # Where the disk cannot tell, all of it is taken to have been written.
        return end if fault.errno == errno.ENXIO else start


@contextmanager
def open_own(path: str) -> Iterator[tuple[int, os.stat_result]]:
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


SLICE_BYTES = 512 * 1024
"""Small enough to stay in a processor's cache between the read and the parse."""
_END_BYTES = 16 * 1024
_SEARCH_BYTES = 1024 * 1024


def whole_lines(descriptor: int, start: int, end: int) -> bytes:
    """Returns the next whole lines of `[start, end)`, some slice; empty where none ends in it."""
    size = min(SLICE_BYTES, end - start)
    if size == SLICE_BYTES:
        # Where the last line ends is looked up first: cutting the slice would copy all of it.
        tail = os.pread(descriptor, _END_BYTES, start + size - _END_BYTES)
        if line_end := tail.rfind(b"\n") + 1:
            size += line_end - len(tail)
    chunk = os.pread(descriptor, size, start)
    if chunk.endswith(b"\n"):
        return chunk
    return chunk[: chunk.rfind(b"\n") + 1]


def end_of_line(descriptor: int, start: int, end: int) -> tuple[int, bool]:
    """Returns the offset behind the newline of the line that goes on at `start`, and True.

    Else how far was looked, and False: no further than `end`, nor than a line may be long.
    """
    reach = min(end, start + LINE_BYTES + 1)
    while (start := behind_hole(descriptor, start, end)) < reach:
        block = os.pread(descriptor, min(_SEARCH_BYTES, reach - start), start)
        if not block:
            return end, False
        if (newline := block.find(b"\n")) >= 0:
            return start + newline + 1, True
        start += len(block)
    return start, False


def is_too_long(length: int) -> bool:
    """Returns whether a line of so many bytes is passed over."""
    return length > LINE_BYTES
