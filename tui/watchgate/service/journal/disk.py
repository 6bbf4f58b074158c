"""The journal's files as their one writer holds them: the database, its log and the head file."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from watchgate.core.chain import Head, Row
from watchgate.service.journal import table
from watchgate.service.journal.head import HeadFile, head_path, head_problem


class JournalDisk:
    """The disk side of the journal; each method raises `OSError` or `sqlite3.Error`.

    `written` is the end of the rows on disk, `fault` what `journal.head` gave away about the
    journal at its opening, if anything.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._version = table.foreign_version(connection)
        self.written = table.newest(connection)
        problem = head_problem(head_path(path), connection)
        self.fault = problem.message if problem else None
        self._connection = connection
        # What is committed lies in SQLite's log at first: a log without a name ends with us. And
        # whoever makes the shared memory anew holds no lock that we see, nor sees ours.
        files = (path.with_name(f"{path.name}{end}") for end in ("", "-wal", "-shm"))
        self._files = {file: file.stat().st_ino for file in files}
        self._head_file = HeadFile(head_path(path))
        # A file that told of a fault stays until the record of that fault is in the journal.
        self._headed = self._synced = self.written if problem else None
        if problem is None:
            # From the first record on, a journal without this file must be one that lost it.
            self.write_head(durable=True)

    def look(self) -> None:
        """Raises `FileNotFoundError` when a file was removed: new rows would end with us."""
        for file, inode in self._files.items():
            if file.stat().st_ino != inode:
                raise FileNotFoundError(f"{file} is another file now")

    def insert(self, rows: Sequence[Row], purged: Sequence[int] = ()) -> None:
        """Writes the rows, all of them or none; they outlive a power cut when this returns.

        The rows numbered `purged` lose their data with it.
        """
        table.insert(self._connection, rows, purged)
        self.written = Head(rows[-1].seq, rows[-1].hash)

    def demand_alone(self) -> None:
        """Raises `ForeignWriteError` when another program has written since this was opened.

        Whatever it committed before the newest rows shows here, so that these can be relied on.
        """
        if table.foreign_version(self._connection) != self._version:
            raise table.ForeignWriteError

    def empty_log(self) -> bool:
        """Moves SQLite's log into the database and empties it; False while somebody reads."""
        return table.empty_log(self._connection)

    def write_head(self, *, durable: bool) -> None:
        """Writes the number and hash of the newest row into the head file."""
        if (self._synced if durable else self._headed) == self.written:
            return
        self._head_file.write(self.written, durable=durable)
        self._headed = self.written
        if durable:
            self._synced = self.written

    def delete(self, upto: int) -> None:
        """Deletes the rows up to a number."""
        table.delete(self._connection, upto)

    def give_back(self) -> bool:
        """Returns some free pages to the file system; the result is whether there are more."""
        return table.give_back(self._connection)

    def close(self) -> None:
        """Closes the files."""
        self._connection.close()
        self._head_file.close()
