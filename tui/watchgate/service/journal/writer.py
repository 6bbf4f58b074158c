"""The journal's writer: one thread that brings records from the event loop to the disk.

Theory of operation

Queue. The event loop appends sealed rows to a list under a lock and goes on at once; it never waits
for the disk. The thread copies the list, writes it in one transaction, and only then takes those
rows off. Rows wait up to `flush_s` for others, or until a batch is full; a commit, the emptying of
the log or the end wakes the thread at once. Deletions of old rows are done in slices between the
writes.

Written. A row counts as written when its transaction is in SQLite's log with an fsync and the head
file names it. `commit` calls back after that, with True only where every row appended before it is
there: an allow rests on this. Where somebody waits, a decision is among the rows, or the journal
closes, the head file is synced as well, so that rows lost by a power cut show.

Full or slow disk. While a write fails, `lost` says why, gates answer closed, and the rows stay in
the queue and are tried again each `retry_s`. The queue is bounded in rows and bytes. Once a row
finds no room it is dropped and counted, and so is every later one, for a chain must have no hole:
the journal stays `lost`, and is `spent` when the rest of the queue is written. The core then starts
over and goes on from the last written row.

Foreign writes. SQLite's data version shows the commit of any other program. From then on the
journal stays `lost`: new rows are written as evidence, but no allow rests on them. A file that was
moved or removed cannot be written any more; only a restart opens the new one.

Never. No callback says True for a row that a power cut could take. No row is written out of order
or twice. The thread never waits for the event loop, which waits for it when it closes. An error in
the thread itself ends it with `lost` set, never with silence.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from watchgate.core.chain.hash_chain import JournalRow
from watchgate.service.journal.journal_disk import BATCH_ROWS, ForeignWriteError, JournalDisk
from watchgate.service.journal.schema import journal_error, open_to_write, reason

Callback = Callable[[bool], object]
Removed = Callable[[str], None]
Connect = Callable[[Path], sqlite3.Connection]


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """The timing and the limits of a writer.

    `flush_s` is the longest wait of a row for others, `retry_s` the pause before a lost journal is
    tried again, `look_s` the pause between looks for foreign writers. The queue takes so many rows
    and, as a soft limit, bytes.
    """

    flush_s: float = 0.05
    retry_s: float = 1.0
    look_s: float = 2.0
    max_rows: int = 50_000
    max_bytes: int = 256 * 1024 * 1024


STEADY = Pace()
OVERFULL = (
    "more records wait for the journal's disk than there is room for, and what comes now is lost: "
    "see why that disk is slow; the core starts over once they are written"
)


class Journal:
    """An open journal. All methods are for one thread; callbacks come from the writer's.

    `lost` says why nothing can be written, `dropped` counts rows for which there was no room,
    `foreign` says that another program has written to it. The module's text has the rules.
    """

    def __init__(self, path: Path, disk: JournalDisk, pace: Pace) -> None:
        self.path = path
        self.head = disk.written
        """The end of the chain when the journal was opened."""
        self.fault = disk.fault
        """The fault that `journal.head` gave away when the journal was opened, if there was one."""
        self.foreign = ""
        """The sign that another program writes to it; empty while there is none."""
        self.dropped = 0
        self._disk = disk
        self._pace = pace
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._failure = ""
        self._queue: list[JournalRow] = []
        self._queued_bytes = 0
        self._asked: list[_CommitRequest] = []
        self._removals: list[_Removal] = []
        self._purges: dict[int, Sequence[int]] = {}
        self._emptyings: list[Callback] = []
        self._closing = False
        self._durable_due = False
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, path: Path, *, pace: Pace = STEADY, connect: Connect = open_to_write) -> Self:
        """Opens the journal at `path`, making it if it is new; raises `JournalError`."""
        connection = connect(path)
        try:
            return cls(path, JournalDisk(path, connection), pace)
        except (OSError, sqlite3.Error) as error:
            connection.close()
            raise journal_error(path, error) from error

    @property
    def lost(self) -> str:
        """The reason why nothing can be written now; empty while all is well."""
        return self._failure or self.foreign or (OVERFULL if self.dropped else "")

    @property
    def spent(self) -> bool:
        """Returns whether rows were dropped and all before them are written."""
        return bool(self.dropped) and not (self._queue or self._failure)

    @property
    def room(self) -> int:
        """The number of rows that the queue should still take; none while they have many bytes."""
        if self._queued_bytes > self._pace.max_bytes:
            return 0
        return self._pace.max_rows - len(self._queue)

    def append(self, row: JournalRow) -> None:
        """Queues a row; it is written within `flush_s`, or with the next commit."""
        with self._lock:
            self._take((row,))

    def extend(self, rows: Sequence[JournalRow]) -> None:
        """Queues several rows at once, as `append`; all of them or, without room, none."""
        with self._lock:
            self._take(rows)

    def purge(self, row: JournalRow, seqs: Sequence[int]) -> None:
        """Queues the row of a purge, as `append`; the rows `seqs` lose their data with it.

        Both happen in one transaction, so that neither is ever there alone.
        """
        with self._lock:
            if self._take((row,)):
                self._purges[row.seq] = seqs

    def commit(self, callback: Callback) -> None:
        """Brings everything appended so far to the disk; calls back with whether it is there."""
        with self._lock:
            self._asked.append(_CommitRequest(callback, complete=not self.dropped))
            self._wake.notify()

    def remove(self, ends: Sequence[int], callback: Removed) -> None:
        """Deletes the rows up to the last of `ends`, slice by slice between the writes.

        A checkpoint that covers them is on the disk. `callback` gets the fault, empty where there
        was none; nothing when the journal was closed before.
        """
        with self._lock:
            self._removals.append(_Removal(callback, list(ends)))
            self._wake.notify()

    def empty_log(self, callback: Callback) -> None:
        """Empties SQLite's log of dropped data.

        `callback` gets whether it is empty: False while somebody reads.
        """
        with self._lock:
            self._emptyings.append(callback)
            self._wake.notify()

    def close(self) -> int:
        """Writes the queue and ends the writer; returns the number of rows that are on no disk."""
        with self._lock:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        return len(self._queue) + self.dropped

    def _take(self, rows: Sequence[JournalRow]) -> bool:
        waiting = len(self._queue)
        # What is only observed stops at half of these bytes (`room`).
        full = self._queued_bytes > 2 * self._pace.max_bytes
        if self.dropped or full or waiting + len(rows) > self._pace.max_rows:
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

    def _attempt(self, rows: list[JournalRow], *, durable: bool) -> str:
        self._durable_due |= durable
        try:
            self._disk.look()
            if rows:
                purging = [row.seq for row in rows if row.seq in self._purges]
                self._disk.insert(rows, [seq for teller in purging for seq in self._purges[teller]])
                self._drop_written(rows)
                for teller in purging:
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

    def _drop_written(self, rows: list[JournalRow]) -> None:
        with self._lock:
            del self._queue[: len(rows)]
            self._queued_bytes -= _size_bytes(rows)

    def _remove_some(self, removal: _Removal) -> None:
        """Deletes one slice, or gives some pages back.

        More at once would keep a waiting commit.
        """
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


def _size_bytes(rows: Sequence[JournalRow]) -> int:
    return sum(len(row.data or b"") for row in rows)


class _CommitRequest(msgspec.Struct, frozen=True):
    callback: Callback
    complete: bool


class _Removal(msgspec.Struct, frozen=True, eq=False):
    callback: Removed
    ends: list[int]
