"""Text files of usage: those of lines that grow, and those of one value that are read anew."""

from __future__ import annotations

import os

from watchgate.agents.usage import FileFacts, UsageReader
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.file_reading import (
    LINE_BYTES,
    NotOursError,
    end_of_line,
    is_too_long,
    open_own,
    whole_lines,
)
from watchgate.service.usage.followed_file import NEVER, FollowedFile, ReaderOf, Stamp, stamp

TAIL_BYTES = 64
"""So much before the offset is compared: a file that was written anew may have grown as well."""


class GrowingFile(FollowedFile):
    """Keeps its place in the file by device, inode, offset and the bytes before the offset."""

    def __init__(self, path: str, agent: str, reader_of: ReaderOf, *, key: str) -> None:
        super().__init__(path, agent, reader_of, key=key)
        self._reader: UsageReader | None = None
        self._offset = 0
        self._before = b""
        self._looked_to = 0
        self._passing = False

    @property
    def left(self) -> int:
        """Returns the bytes up to the end, but for a line without one."""
        return max(self.read_to.size - self._looked_to, 0)

    def restore(self, read_to: Stamp, facts: FileFacts, unreadable: int) -> None:
        """Restores as for any file; what is added to it makes it be read from its start."""
        super().restore(read_to, facts, unreadable)
        self._looked_to = read_to.size

    def is_at(self, path: str) -> bool:
        """Returns whether what was read lies there too, before what may be new."""
        if self._reader is None:
            return super().is_at(path)
        if not self._offset:
            return False  # nothing tells it from a new file with its old number
        try:
            with open_own(path) as (descriptor, about):
                return self._goes_on(descriptor, about)
        except (OSError, NotOursError):
            return False

    def _read(self, ledger: Ledger, limit: int) -> int:
        with open_own(self.path) as (descriptor, about):
            reader = self._reader
            if reader is None or not self._goes_on(descriptor, about):
                reader = self._anew(ledger)
            self.read_to = stamp(about)
            self._looked_to = self._offset
            done = 0
            while self.left and done < limit:
                done += self._slice(descriptor, reader)
                self._tell(ledger, reader)
            return done

    def _goes_on(self, descriptor: int, about: os.stat_result) -> bool:
        """Returns whether what was read is still what lies before the offset."""
        now, was = stamp(about), self.read_to
        if (now.dev, now.ino) != (was.dev, was.ino) or now.size < self._offset:
            return False
        if now.size == was.size and now.mtime_ns != was.mtime_ns:
            return False  # it was written, yet nothing was added
        before = self._before
        return os.pread(descriptor, len(before), self._offset - len(before)) == before

    def _anew(self, ledger: Ledger) -> UsageReader:
        if self.read_to != NEVER:
            self._forget(ledger)
        self._reader = reader = self._new_reader()
        self._offset, self._before, self._passing = 0, b"", False
        self.facts, self._unreadable = reader.facts, 0
        return reader

    def _slice(self, descriptor: int, reader: UsageReader) -> int:
        """Reads one slice; returns by how much that went on."""
        start, end = self._offset, self.read_to.size
        if not self._passing and (chunk := whole_lines(descriptor, start, end)):
            reader.read(chunk)
            self._moved(start + len(chunk), chunk)
            return len(chunk)
        return self._long_line(descriptor, reader, start, end)

    def _long_line(self, descriptor: int, reader: UsageReader, start: int, end: int) -> int:
        upto, ended = end_of_line(descriptor, start, end)
        if self._passing or is_too_long(upto - start):
            self.lost += not self._passing
            self._passing = not ended
            self._moved(upto, os.pread(descriptor, TAIL_BYTES, max(upto - TAIL_BYTES, 0)))
        elif ended and len(chunk := os.pread(descriptor, upto - start, start)) == upto - start:
            reader.read(chunk)
            self._moved(upto, chunk)
        else:
            self._looked_to = end  # it is unfinished, or the file is shorter by now
        return upto - start

    def _moved(self, offset: int, chunk: bytes) -> None:
        self._offset = self._looked_to = offset
        before = chunk if len(chunk) >= TAIL_BYTES else self._before + chunk
        self._before = before[-TAIL_BYTES:]


class WholeValueFile(FollowedFile):
    """A file that is one value; its calls replace those that it held before."""

    @property
    def left(self) -> int:
        """Returns 0: it is read at once, whatever the limit."""
        return 0

    def _read(self, ledger: Ledger, _limit: int) -> int:
        with open_own(self.path) as (descriptor, about):
            first, self.read_to = self.read_to == NEVER, stamp(about)
            if about.st_size > LINE_BYTES:
                raise NotOursError(self.path)
            content = os.read(descriptor, about.st_size) if about.st_size else b""
        if not content:
            return 0
        reader = self._new_reader()
        reader.read(content)
        if reader.unreadable and not first:
            # Half of it is written as yet: what it told before holds until all of it is there.
            self._unreadable = reader.unreadable
            return len(content)
        if not first:
            self._forget(ledger)
        self._tell(ledger, reader)
        return len(content)
