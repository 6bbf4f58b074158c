"""One file of usage that is read again whenever it has changed."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import msgspec

from watchgate.agents.usage import FileFacts, UsageReader
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.usage_calls import UsageCall
from watchgate.service.usage.file_reading import NotOursError

ReaderOf = Callable[[str], UsageReader]
"""Makes a reader of the file with this path."""


class Stamp(NamedTuple):
    """The identity of a file, its size, and when it was written last."""

    dev: int
    ino: int
    size: int
    mtime_ns: int


NEVER = Stamp(0, 0, -1, 0)
NAME_CHARS = 512
"""So much of a session's name counts, as for those that hooks tell."""


def stamp(about: os.stat_result) -> Stamp:
    """Returns the stamp of a file by what the system says of it."""
    return Stamp(about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)


class FollowedFile(ABC):
    """A file by its path; `key` is its name in the ledger.

    `fault` says that it should be readable and is not, `asleep` that it is too old to be read until
    it changes; `lost` counts lines that no reader got. `cached_calls` are its calls in their order,
    where a cache is to have them.
    """

    def __init__(self, path: str, agent: str, reader_of: ReaderOf, *, key: str) -> None:
        self.path = path
        self.agent = agent
        self.key = key
        self.facts = FileFacts()
        self.fault = False
        self.asleep = False
        self.lost = 0
        self.written_ns = 0
        self.read_to = NEVER
        self.cached_calls: list[UsageCall] | None = None
        self._new_reader = partial(reader_of, os.fsencode(path).decode("utf-8", "replace"))
        self._unreadable = 0

    @property
    def unreadable(self) -> int:
        """Returns the number of its lines that could not be read."""
        return self._unreadable + self.lost

    @property
    def is_new(self) -> bool:
        """Returns whether nothing of it was read."""
        return self.read_to == NEVER

    def changed(self) -> bool:
        """Returns whether it has changed since it was read; raises `OSError` where it is gone."""
        return stamp(os.lstat(self.path)) != self.read_to

    def read(self, ledger: Ledger, limit: int) -> int:
        """Reads on into the ledger, about `limit` bytes; returns how many were read.

        What the disk refuses is a fault and no more; raises `FileNotFoundError`.
        """
        try:
            done = self._read(ledger, limit)
        except FileNotFoundError:
            raise
        except (OSError, NotOursError):
            self.fault = True
            return 0
        self.fault = self.asleep = False
        return done

    @property
    @abstractmethod
    def left(self) -> int:
        """Returns the number of bytes still to be read, by its size at the last look."""

    @abstractmethod
    def _read(self, ledger: Ledger, limit: int, /) -> int: ...

    def sleep(self, read_to: Stamp) -> None:
        """Counts it as read up to there, without its calls."""
        self.restore(read_to, self.facts, 0)
        self.asleep = True

    def restore(self, read_to: Stamp, facts: FileFacts, unreadable: int) -> None:
        """Counts it as read up to there: its calls are in the ledger by other means."""
        self.read_to, self.facts, self._unreadable, self.lost = read_to, facts, unreadable, 0

    def is_at(self, path: str) -> bool:
        """Returns whether the file with this path is this one, moved."""
        try:
            return stamp(os.lstat(path)) == self.read_to
        except OSError:
            return False

    def _tell(self, ledger: Ledger, reader: UsageReader) -> None:
        """Puts what the reader has found into the ledger."""
        calls, facts = reader.take(), reader.facts
        facts.session = facts.session[:NAME_CHARS]
        for place, call in enumerate(calls):
            if len(call.session) > NAME_CHARS:
                calls[place] = msgspec.structs.replace(call, session=call.session[:NAME_CHARS])
        gone = getattr(reader, "gone", [])
        self.facts, self._unreadable = facts, reader.unreadable
        if not calls and not gone and not facts.thread:
            return  # but that a thread has a file matters to those that were forked from it
        ledger.put(self.key, self.agent, calls, thread=facts.thread, parent=facts.parent, gone=gone)
        if gone and self.cached_calls is not None:
            left_out = set(gone)
            self.cached_calls = [
                c for c in self.cached_calls if (c.id, c.request, c.side) not in left_out
            ]
        gone.clear()
        if self.cached_calls is not None:
            self.cached_calls += calls

    def _forget(self, ledger: Ledger) -> None:
        ledger.forget(self.key)
        self.lost = 0
        self.cached_calls = None if self.cached_calls is None else []
