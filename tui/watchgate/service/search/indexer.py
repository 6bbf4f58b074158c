"""The core's thread that keeps the index up to the journal, some moments behind it.

The rounds of an index's upkeep: made where it is missing, filled, and cut.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import msgspec

from watchgate.core.chain.hash_chain import START
from watchgate.core.model.records import Record
from watchgate.service.journal.schema import JournalError, open_to_read, reason
from watchgate.service.search.index_file import (
    belongs_to,
    beyond_repair,
    forget_before,
    index_path,
    is_stale,
    newest_indexed,
    note_begin,
    open_to_fill,
    records_after,
    remove_index,
    store_batch,
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
                    remove_index(self._journal)
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
            remove_index(self._journal)
            return True
        if batch:
            store_batch(index, batch)
            return True
        forget_before(index, oldest)
        return False

    def _next(
        self, records: sqlite3.Connection, index: sqlite3.Connection
    ) -> tuple[list[Record] | None, int]:
        """Returns the next records, None where the index is of another journal; and the oldest."""
        done = newest_indexed(index)
        try:
            oldest = records.execute("SELECT coalesce(min(seq), 0) FROM record").fetchone()[0]
            newest = records.execute("SELECT coalesce(max(seq), 0) FROM record").fetchone()[0]
            if done == START:
                note_begin(index, newest)
            return (records_after(records, done.seq) if belongs_to(records, done) else None), int(
                oldest
            )
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


class IndexerPace(msgspec.Struct, frozen=True, kw_only=True):
    """The longest wait of new records for others, and the pause after a fault."""

    gather_s: float = 0.5
    retry_s: float = 10.0


STEADY = IndexerPace()


class Indexer:
    """Keeps an index up to its journal; all methods are for any thread.

    It is a watcher of the recorder: a record announces work. `fault` says why nothing can be
    indexed now; then a search reads the journal itself.
    """

    def __init__(self, journal: Path, *, pace: IndexerPace = STEADY) -> None:
        self.fault = ""
        self._journal = journal
        self._pace = pace
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._due = True
        self._closing = False
        self._rounds = 0
        self._owed = 0
        self._thread = threading.Thread(target=self._run, name="index", daemon=True)
        self._thread.start()

    def offer(self, _record: Record) -> None:
        """Notes that a record was made, and will soon be in the journal."""
        if not self._due:
            with self._lock:
                self._due = True
                self._wake.notify_all()

    def forget(self) -> None:
        """Removes the index, which holds words of purged records: all is indexed anew.

        Raises `OSError` where the file cannot be removed.
        """
        remove_index(self._journal)
        with self._lock:
            self._due = True
            self._wake.notify_all()

    def settle(self, timeout_s: float) -> bool:
        """Waits until the journal's present records are indexed; returns whether they are."""
        with self._lock:
            enough = self._rounds + 2  # the round under way may have begun before
            self._owed = max(self._owed, enough)
            self._wake.notify_all()
            done = self._wake.wait_for(lambda: self._rounds >= enough, timeout_s)
        return done and not self.fault

    def close(self) -> None:
        """Ends the thread; the next core goes on where it stopped."""
        with self._lock:
            self._closing = True
            self._wake.notify_all()
        self._thread.join()

    def _run(self) -> None:
        upkeep = Upkeep(self._journal)
        while not self._closing:
            with self._lock:
                self._wake.wait_for(lambda: self._due or self._urgent())
                self._due = False
            self.fault = upkeep.round(lambda: self._closing)
            with self._lock:
                self._rounds += 1
                self._due |= bool(self.fault)
                self._wake.notify_all()
                pause_s = self._pace.retry_s if self.fault else self._pace.gather_s
                self._wake.wait_for(self._urgent, pause_s)
        upkeep.close()

    def _urgent(self) -> bool:
        return self._closing or self._rounds < self._owed
