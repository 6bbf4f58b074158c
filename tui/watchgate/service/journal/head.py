"""`journal.head`: the number and hash of the newest record, kept apart so that a cut tail shows."""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from pathlib import Path

from watchgate.core.chain import START, Head, Problem
from watchgate.service import own_file
from watchgate.service.journal.schema import LAST_SEQ

_FORM = re.compile(rb"([0-9]{20}) ([0-9a-f]{64})\n")
_LENGTH_BYTES = 86
_NO_HASH = "0" * 64
# macOS has no fdatasync.
_sync = getattr(os, "fdatasync", os.fsync)


class HeadError(ValueError):
    """The head file is there and says nothing: the message names it and why."""


class HeadFile:
    """The head file as its one writer holds it: new at the first write, then overwritten.

    The text always has the same length and lies in one sector, so that neither a kill nor a power
    cut leaves half of it. A file that was taken away or exchanged is made again by the next write.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._descriptor: int | None = None

    def write(self, head: Head, *, durable: bool) -> None:
        """Writes the end of the chain, once its records are on disk; raises `OSError`.

        With `durable` it outlives a power cut when this returns.
        """
        text = f"{head.seq:020d} {head.hash or _NO_HASH}\n".encode()
        if self._descriptor is None or not self._is_there(self._descriptor):
            self.close()
            self._descriptor = own_file.made(self.path, text)
            return
        os.pwrite(self._descriptor, text, 0)
        if durable:
            _sync(self._descriptor)

    def close(self) -> None:
        """Closes the file; a later write makes it anew."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _is_there(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(self.path.lstat(), os.fstat(descriptor))
        except FileNotFoundError:
            return False


def head_path(journal: Path) -> Path:
    """Returns the head file that belongs to a journal."""
    return journal.with_suffix(".head")


def read_head(path: Path) -> Head | None:
    """Returns the head in the file, None where there is none; raises `HeadError`."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            raise HeadError(f"{path.name} is not a plain file")
        content = _settled(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise HeadError(f"{path.name} cannot be read: {error}") from error
    fields = _FORM.fullmatch(content)
    if fields is None or int(fields[1]) > LAST_SEQ:
        raise HeadError(f"{path.name} holds no number and hash")
    return Head(int(fields[1]), fields[2].decode()) if int(fields[1]) else START


def head_problem(path: Path, connection: sqlite3.Connection) -> Problem | None:
    """Returns the journal's fault when measured by its head file, if there is one.

    Only what was written after the file's last writing can be missing unnoticed: at most the batch
    over which the core was killed. Raises `sqlite3.Error`.
    """
    last: int = connection.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()[0]
    try:
        head = read_head(path)
    except HeadError as fault:
        return Problem(last + 1, str(fault))
    if head is None:
        return _missing(path, last) if last else None
    if head == START:
        return None
    row = connection.execute("SELECT hash FROM record WHERE seq = ?", (head.seq,)).fetchone()
    if row is None:
        return Problem(
            last + 1,
            f"record {head.seq} is missing: {path.name} names it, "
            f"the journal ends at record {last}",
        )
    if row[0] != head.hash:
        return Problem(head.seq, f"record {head.seq} has another hash than {path.name} says")
    return None


def _missing(path: Path, last: int) -> Problem:
    """Returns the fault of a missing file: it is made before the first record."""
    return Problem(
        last + 1,
        f"{path.name} is missing: whether records after {last} were cut off cannot be told",
    )


def _settled(path: Path) -> bytes:
    """Returns the content once two readings agree; a core may write it at this moment."""
    content, before = _content(path), None
    while content != before:
        content, before = _content(path), content
    return content


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_LENGTH_BYTES + 1)
