"""The journal's writer: records go in from the event loop, one thread brings them to the disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from watchgate.core.chain import Row
from watchgate.service.journal.disk import JournalDisk
from watchgate.service.journal.schema import failed, open_to_write, reason
from watchgate.service.journal.table import BATCH_ROWS, ForeignWriteError

Callback = Callable[[bool], None]
Removed = Callable[[str], None]
Connect = Callable[[Path], sqlite3.Connection]


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How long rows wait for company, how often a lost journal is tried, how many rows it keeps."""

    flush_s: float = 0.05
    retry_s: float = 1.0
    look_s: float = 2.0
    rows_kept: int = 50_000
    bytes_kept: int = 256 * 1024 * 1024


STEADY = Pace()
OVERFULL = (
    "more records wait for the journal's disk than there is room for, and what comes now is lost: "
    "see why that disk is slow; the core starts over once they are written"
)


class Journal:
    """An open journal. All methods are for one thread; callbacks come from the writer's.

    While nothing can be written `lost` says why, rows are kept and tried again. Once another
    program has written it stays `lost`, and what comes is written as evidence. Once there is no
    room for one it is dropped, and so is all that follows, for a chain must have no hole: the
    journal stays `lost`, and is `spent` when what it kept is written.
    """

    def __init__(self, path: Path, disk: JournalDisk, pace: Pace) -> None:
        self.path = path
        self.head = disk.written
        """The end of the chain when the journal was opened."""
        self.fault = disk.fault
        """What `journal.head` gave away about the journal as it was found, if anything."""
        self.foreign = ""
        """How another program was noticed that writes to it; empty while there is none."""
        self.dropped = 0
        self._disk = disk
        self._pace = pace
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._failure = ""
        self._queue: list[Row] = []
        self._queued_bytes = 0
        self._asked: list[_Asked] = []
        self._removals: list[_Removal] = []
        self._purges: dict[int, Sequence[int]] = {}
        self._emptyings: list[Callback] = []
        self._closing = False
        self._durable_due = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, path: Path, *, pace: Pace = STEADY, connect: Connect = open_to_write) -> Self:
        """Open the journal at `path`, making it if it is new; raises `JournalError`."""
        connection = connect(path)
        try:
            return cls(path, JournalDisk(path, connection), pace)
        except (OSError, sqlite3.Error) as error:
            connection.close()
            raise failed(path, error) from error

    @property
    def lost(self) -> str:
        """Why nothing can be written now; empty while all is well."""
        return self._failure or self.foreign or (OVERFULL if self.dropped else "")

    @property
    def spent(self) -> bool:
        """Whether rows were dropped and all before them are written: a new one has to go on."""
        return bool(self.dropped) and not (self._queue or self._failure)

    @property
    def room(self) -> int:
        """How many more rows should wait for the disk; none while those that do are too large."""
        if self._queued_bytes > self._pace.bytes_kept:
            return 0
        return self._pace.rows_kept - len(self._queue)

    def append(self, row: Row) -> None:
        """Hand over a row; it is written within `flush_s`, or with the next commit."""
        with self._lock:
            self._take((row,))

    def extend(self, rows: Sequence[Row]) -> None:
        """As `append`, with several rows at once; all of them or, without room, none."""
        with self._lock:
            self._take(rows)

    def purge(self, row: Row, seqs: Sequence[int]) -> None:
        """As `append`, with a row that tells of the purge of others: they lose their data with it.

        Both happen in one transaction, so that neither is ever there alone.
        """
        with self._lock:
            if self._take((row,)):
                self._purges[row.seq] = seqs

    def commit(self, callback: Callback) -> None:
        """Bring everything appended so far to the disk and say whether it is there."""
        with self._lock:
            self._asked.append(_Asked(callback, complete=not self.dropped))
            self._wake.notify()

    def remove(self, ends: Sequence[int], callback: Removed) -> None:
        """Delete the rows up to the last of `ends`, slice by slice between what is written.

        A checkpoint that covers them is on the disk. `callback` hears why it failed, empty where
        it did not; nothing when the journal was closed before.
        """
        with self._lock:
            self._removals.append(_Removal(callback, list(ends)))
            self._wake.notify()

    def empty_log(self, callback: Callback) -> None:
        """Empty SQLite's log of what was dropped; `callback` hears whether it is, False if read."""
        with self._lock:
            self._emptyings.append(callback)
            self._wake.notify()

    def close(self) -> int:
        """Write what is left and end the writer; the number of rows that are on no disk."""
        with self._lock:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        return len(self._queue) + self.dropped

    def _take(self, rows: Sequence[Row]) -> bool:
        waiting = len(self._queue)
        # What is only observed stops at half of these bytes (`room`).
        full = self._queued_bytes > 2 * self._pace.bytes_kept
        if self.dropped or full or waiting + len(rows) > self._pace.rows_kept:
            self.dropped += len(rows)
            return False
        self._queue += rows
        self._queued_bytes += _size_bytes(rows)
        if waiting == 0 or waiting + len(rows) >= BATCH_ROWS > waiting:
            self._wake.notify()
        return True

    def _run(self) -> None:
        try:
            self._write()
        finally:
            # Only a fault in this program ends the writer early; it must not pass for a sound one.
            if not self._closing:
                self._failure = "the journal's writer has failed: restart the core"
            self._disk.close()

    def _write(self) -> None:
        closing = False
        while not closing:
            with self._lock:
                self._wait()
                rows = self._queue.copy()
                asked, self._asked = self._asked, []
                closing = self._closing
            # A denial waits for no commit, and must outlive a power cut just the same.
            decided = any(row.kind == "approval.decided" for row in rows)
            failure = self._attempt(rows, durable=bool(asked) or closing or decided)
            self._failure = failure
            sound = not (failure or self.foreign)
            for one in asked:
                # The loop that asked may be closed by now; then nobody waits for the answer.
                with suppress(RuntimeError):
                    one.callback(one.complete and sound)
            if self._emptyings:
                self._empty_log()
            if self._removals and not (failure or closing):
                self._remove_some(self._removals[0])

    def _wait(self) -> None:
        if self.lost:
            self._wake.wait_for(self._urgent, self._pace.retry_s)
            return
        # Also when nothing is to be written: who else writes is looked for then.
        wanted = self._wake.wait_for(
            lambda: self._queue or self._removals or self._urgent(), self._pace.look_s
        )
        if not wanted:
            return
        self._wake.wait_for(
            lambda: len(self._queue) >= BATCH_ROWS or self._urgent(), self._pace.flush_s
        )

    def _urgent(self) -> bool:
        return bool(self._asked or self._emptyings) or self._closing

    def _attempt(self, rows: list[Row], *, durable: bool) -> str:
        self._durable_due |= durable
        try:
            self._disk.look()
            if rows:
                told = [row.seq for row in rows if row.seq in self._purges]
                self._disk.insert(rows, [seq for teller in told for seq in self._purges[teller]])
                self._inserted(rows)
                for teller in told:
                    del self._purges[teller]
            self._disk.write_head(durable=self._durable_due)
            self._durable_due = False
            self._disk.demand_alone()
        except ForeignWriteError as error:
            # What comes now is written all the same, as evidence; no allow rests on it.
            self.foreign = f"{self.path}: {error}"
        except FileNotFoundError as error:
            return f"{error}: the file was moved or removed, restart the core"
        except (OSError, sqlite3.Error) as error:
            return f"{self.path} {reason(error)}"
        return ""

    def _empty_log(self) -> None:
        with self._lock:
            callbacks, self._emptyings = self._emptyings, []
        try:
            emptied = self._disk.empty_log()
        except (OSError, sqlite3.Error):
            emptied = False
        for callback in callbacks:
            with suppress(RuntimeError):
                callback(emptied)

    def _inserted(self, rows: list[Row]) -> None:
        with self._lock:
            del self._queue[: len(rows)]
            self._queued_bytes -= _size_bytes(rows)

    def _remove_some(self, removal: _Removal) -> None:
        """One slice, or some pages given back: whoever wants to write waits for no more."""
        failure = ""
        try:
            if removal.ends:
                self._disk.delete(removal.ends.pop(0))
                return
            if self._disk.give_back():
                return
        except (OSError, sqlite3.Error) as error:
            failure = reason(error)
        with self._lock:
            self._removals.remove(removal)
        with suppress(RuntimeError):
            removal.callback(failure)


def _size_bytes(rows: Sequence[Row]) -> int:
    return sum(len(row.data or b"") for row in rows)


class _Asked(msgspec.Struct, frozen=True):
    callback: Callback
    complete: bool


class _Removal(msgspec.Struct, frozen=True, eq=False):
    callback: Removed
    ends: list[int]
