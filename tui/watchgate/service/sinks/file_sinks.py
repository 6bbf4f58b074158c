"""Appends lines to a file: one write for the lines of one record, opened anew for each batch.

Opened anew, so that a file that was moved away by a log rotation is made again.

Prints lines on stdout, which has to be nobody else's (CW-15).
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from watchgate.service.sinks.delivery import DeliveryThread, Done, Undelivered

STDOUT = 1


class Stdout:
    """Writes to a descriptor; one that nobody reads keeps only this sink's thread waiting."""

    at_once = 256
    mend = "let something read what the core prints, or use a jsonl sink"

    def __init__(self, descriptor: int = STDOUT) -> None:
        self._descriptor = descriptor
        self._thread = DeliveryThread("watchgate stdout sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Prints the entries; raises `Undelivered`."""
        sent, why = await self._thread.do(lambda: _print(self._descriptor, entries))
        if why:
            raise Undelivered(why, then="drop-all", sent=sent)

    def close(self) -> None:
        """Leaves stdout open: it was there before."""


def _print(descriptor: int, entries: Sequence[bytes]) -> Done:
    sent = 0
    try:
        for entry in entries:
            left = memoryview(entry)
            while left:
                left = left[os.write(descriptor, left) :]
            sent += 1
    except OSError as error:
        return sent, f"stdout: {error.strerror or error}"
    return sent, ""


# Without O_NONBLOCK opening a pipe that nobody reads would wait for a reader.
_OPEN = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK


class Jsonl:
    """A file of the user's own; made with mode 0600, its folders with 0700, when first needed."""

    at_once = 256
    mend = "make room, or give it a path that you may write to"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._thread = DeliveryThread("watchgate jsonl sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Appends the entries; raises `Undelivered`."""
        sent, why = await self._thread.do(lambda: append_lines(self._path, entries))
        if why:
            raise Undelivered(why, then="retry", sent=sent)

    def close(self) -> None:
        """Does nothing: nothing is held between batches."""


def append_lines(path: Path, entries: Sequence[bytes]) -> Done:
    """Appends each entry with one write; an earlier line that was cut short is ended first."""
    sent = 0
    try:
        _make_folders(path)
        file = os.open(path, _OPEN, 0o600)
        try:
            if fault := _not_ours(file):
                return 0, f"{path}: {fault}"
            _lock(file)
            _end_cut_line(file)
            for entry in entries:
                _write(file, entry)
                sent += 1
        finally:
            os.close(file)
    except OSError as error:
        return sent, f"{path}: {error.strerror or error}"
    return sent, ""


def _make_folders(path: Path) -> None:
    for folder in reversed([one for one in path.parents if not one.exists()]):
        folder.mkdir(mode=0o700, exist_ok=True)


def _not_ours(file: int) -> str:
    status = os.fstat(file)
    if not stat.S_ISREG(status.st_mode):
        return "it is not a regular file"
    if status.st_uid != os.geteuid():
        return f"it belongs to user {status.st_uid}, who could read what agents do"
    return ""


def _lock(file: int) -> None:
    # A write grows the file page by page: without a lock, what another core is just writing looks
    # like a line cut short. Released by closing; file systems without locks do without.
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_EX)


def _end_cut_line(file: int) -> None:
    size_bytes = os.fstat(file).st_size
    if size_bytes and os.pread(file, 1, size_bytes - 1) != b"\n":
        _write(file, b"\n")


def _write(file: int, data: bytes) -> None:
    written = os.write(file, data)
    try:
        while written < len(data):
            written += os.write(file, data[written:])
    except OSError:
        # The disk is full: half a line must not stay, unless somebody else wrote behind it.
        size_bytes = os.fstat(file).st_size
        if os.pread(file, written, size_bytes - written) == data[:written]:
            os.ftruncate(file, size_bytes - written)
        raise
