"""The rounds of an index's upkeep: made where it is missing, filled, and cut."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from watchgate.core.chain import START
from watchgate.core.records import Record
from watchgate.service.journal.schema import JournalError, open_to_read, reason
from watchgate.service.search.filling import after, begin, forget_before, is_stale, store
from watchgate.service.search.index_file import (
    belongs,
    beyond_repair,
    index_path,
    open_to_fill,
    reached,
    remove,
)


class Upkeep:
    """The index of one journal, held open between the rounds."""

    def __init__(self, journal: Path) -> None:
        self._journal = journal
        self._index: sqlite3.Connection | None = None
        self._inode = 0

    def round(self, stopped: Callable[[], bool]) -> str:
        """Indexes the whole journal until `stopped`; returns the fault, empty where there is none.

        An index that is damaged, of another journal or from before a purge is made anew.
        """
        try:
            with closing(open_to_read(self._journal)) as records:
                while not stopped() and self._step(records):
                    pass
        except JournalError as error:
            return str(error)
        except (OSError, sqlite3.Error) as error:
            self.close()
            if beyond_repair(error):
                with suppress(OSError):
                    remove(self._journal)
            return f"the index {index_path(self._journal)} {reason(error)}"
        return ""

    def close(self) -> None:
        """Closes the file."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _step(self, records: sqlite3.Connection) -> bool:
        """Indexes the next records; returns whether there may be more."""
        index = self._opened()
        batch, oldest = self._next(records, index)
        if batch is None or is_stale(index, batch):
            self.close()
            remove(self._journal)
            return True
        if batch:
            store(index, batch)
            return True
        forget_before(index, oldest)
        return False

    def _next(
        self, records: sqlite3.Connection, index: sqlite3.Connection
    ) -> tuple[list[Record] | None, int]:
        """Returns the next records, None where the index is of another journal; and the oldest."""
        done = reached(index)
        try:
            oldest = records.execute("SELECT coalesce(min(seq), 0) FROM record").fetchone()[0]
            newest = records.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()[0]
            if done == START:
                begin(index, newest)
            return (after(records, done.seq) if belongs(records, done) else None), int(oldest)
        except sqlite3.Error as error:
            raise JournalError(self._journal, reason(error)) from error

    def _opened(self) -> sqlite3.Connection:
        """Returns the index; opens it again where its file was removed."""
        path = index_path(self._journal)
        if self._index is not None and not (path.exists() and path.stat().st_ino == self._inode):
            self.close()
        if self._index is None:
            self._index = open_to_fill(self._journal)
            self._inode = path.stat().st_ino
        return self._index
