"""The journal's writer: records go in from the event loop, one thread brings them to the disk."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

import msgspec

from watchgate.core.chain import Head, Row
from watchgate.service.journal_head import head_path, head_problem, write_head
from watchgate.service.journal_schema import (
    BATCH_ROWS,
    JournalError,
    insert,
    newest,
    open_to_write,
    reason,
)

Callback = Callable[[bool], None]
Connect = Callable[[Path], sqlite3.Connection]


class Pace(msgspec.Struct, frozen=True, kw_only=True):
    """How long rows wait for company, how often a lost journal is tried, how many rows it keeps."""

    flush_s: float = 0.05
    retry_s: float = 1.0
    rows_kept: int = 50_000
    bytes_kept: int = 256 * 1024 * 1024


STEADY = Pace()


class Journal:
    """An open journal. All methods are for one thread; callbacks come from the writer's.

    While nothing can be written `lost` says why, rows are kept and tried again; once `rows_kept`
    are waiting further ones are dropped and counted, and the chain will show the hole.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, pace: Pace) -> None:
        self.path = path
        self.head = newest(connection)
        """The end of the chain when the journal was opened."""
        problem = head_problem(head_path(path), connection)
        self.fault = problem.message if problem else None
        """What `journal.head` gave away about the journal as it was found, if anything."""
        self.lost = ""
        self.dropped = 0
        self._connection = connection
        self._files = {path: path.stat().st_ino}
        self._pace = pace
        self._lock = threading.Lock()
        self._wake = threading.Condition(self._lock)
        self._queue: list[Row] = []
        self._queued_bytes = 0
        self._asked: list[_Asked] = []
        self._hole = False
        self._closing = False
        self._written = self.head
        self._headed = self.head
        # Later, a journal that holds decisions and has no such file must be one that lost it.
        self._head_due = not head_path(path).exists()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    @classmethod
    def open(cls, path: Path, *, pace: Pace = STEADY, connect: Connect = open_to_write) -> Self:
        """Open the journal at `path`, making it if it is new; raises `JournalError`."""
        connection = connect(path)
        try:
            return cls(path, connection, pace)
        except (OSError, sqlite3.Error) as error:
            connection.close()
            raise JournalError(path, reason(error)) from error

    @property
    def room(self) -> int:
        """How many more rows should wait for the disk; none while those that do are too large."""
        if self._queued_bytes > self._pace.bytes_kept:
            return 0
        return self._pace.rows_kept - len(self._queue)

    def append(self, row: Row) -> None:
        """Hand over a row; it is written within `flush_s`, or with the next commit."""
        with self._lock:
            waiting = len(self._queue)
            if waiting >= self._pace.rows_kept:
                self.dropped += 1
                self._hole = True
                return
            self._queue.append(row)
            self._queued_bytes += len(row.data or b"")
            if waiting in (0, BATCH_ROWS - 1):
                self._wake.notify()

    def extend(self, rows: Sequence[Row]) -> None:
        """As `append`, with several rows at once; all of them or, without room, none."""
        with self._lock:
            waiting = len(self._queue)
            if waiting + len(rows) > self._pace.rows_kept:
                self.dropped += len(rows)
                self._hole = True
                return
            self._queue += rows
            self._queued_bytes += _size_bytes(rows)
            if waiting == 0 or waiting + len(rows) >= BATCH_ROWS > waiting:
                self._wake.notify()

    def commit(self, callback: Callback) -> None:
        """Bring everything appended so far to the disk and say whether it is there."""
        with self._lock:
            self._asked.append(_Asked(callback, complete=not self._hole))
            self._hole = False
            self._wake.notify()

    def close(self) -> int:
        """Write what is left and end the writer; the number of rows that could not be written."""
        with self._lock:
            self._closing = True
            self._wake.notify()
        self._thread.join()
        return len(self._queue)

    def _run(self) -> None:
        try:
            self._write()
        finally:
            # Only a fault in this program ends the writer early; it must not pass for a sound one.
            if not self._closing:
                self.lost = "the journal's writer has failed: restart the core"
            self._connection.close()

    def _write(self) -> None:
        closing = False
        while not closing:
            with self._lock:
                self._wait()
                rows, self._queue, self._queued_bytes = self._queue, [], 0
                asked, self._asked = self._asked, []
                closing = self._closing
            # A denial waits for no commit, and a cut that takes it away has to show just the same.
            decided = any(row.kind == "approval.decided" for row in rows)
            failure = self._attempt(rows, to_head=bool(asked) or closing or decided)
            self.lost = failure
            for one in asked:
                # The loop that asked may be closed by now; then nobody waits for the answer.
                with suppress(RuntimeError):
                    one.callback(one.complete and not failure)

    def _wait(self) -> None:
        if self.lost:
            self._wake.wait_for(self._urgent, self._pace.retry_s)
            return
        self._wake.wait_for(lambda: self._queue or self._urgent())
        self._wake.wait_for(
            lambda: len(self._queue) >= BATCH_ROWS or self._urgent(), self._pace.flush_s
        )

    def _urgent(self) -> bool:
        return bool(self._asked) or self._closing

    def _attempt(self, rows: list[Row], *, to_head: bool) -> str:
        self._head_due |= to_head
        try:
            for file, inode in self._files.items():
                if file.stat().st_ino != inode:
                    raise FileNotFoundError(f"{file} is another file now")
            if rows:
                insert(self._connection, rows)
                self._written = Head(rows[-1].seq, rows[-1].hash)
                rows = []
                self._remember_log()
            if self._head_due and self._headed != self._written:
                write_head(head_path(self.path), self._written)
                self._headed = self._written
            self._head_due = False
        except FileNotFoundError as error:
            failure = f"{error}: the file was moved or removed, restart the core"
        except (OSError, sqlite3.Error) as error:
            failure = f"{self.path} {reason(error)}"
        else:
            return ""
        with self._lock:
            self._queue[:0] = rows
            self._queued_bytes += _size_bytes(rows)
        return failure

    def _remember_log(self) -> None:
        """What is committed lies in SQLite's log at first: a log without a name ends with us."""
        if len(self._files) == 1:
            log = self.path.with_name(f"{self.path.name}-wal")
            self._files[log] = log.stat().st_ino


def _size_bytes(rows: Sequence[Row]) -> int:
    return sum(len(row.data or b"") for row in rows)


class _Asked(msgspec.Struct, frozen=True):
    callback: Callback
    complete: bool
