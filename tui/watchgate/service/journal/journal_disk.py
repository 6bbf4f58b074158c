"""The journal's files as their one writer holds them: the database, its log and the head file.

- `journal.head`: the number and hash of the newest record, kept apart so that a cut tail shows.
- The statements on the journal's rows: added at its end, taken away from its front.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import msgspec

from watchgate.core.chain.hash_chain import START, Head, JournalRow, Problem
from watchgate.service.journal.schema import LAST_SEQ
from watchgate.service.system import safe_files

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
            self._descriptor = safe_files.make_own_file(self.path, text)
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


T = TypeVar("T")

BATCH_ROWS = 256
GIVEN_BACK_PAGES = 64
SPARE_PAGES = 256
"""Free pages that the file keeps for the rows to come."""

_INSERT = "INSERT INTO record VALUES "
_PLACES = ("CAST(? AS TEXT)" if field == "data" else "?" for field in JournalRow.__struct_fields__)
_VALUES = f"({','.join(_PLACES)})"
_BLOCKS = (256, 64, 16)


class ForeignWriteError(Exception):
    """Another program has written to the journal, or made it drop what is written."""

    def __init__(self) -> None:
        super().__init__(
            "another program has written to it, so that no allow can rest on it: run `watchgate "
            "audit verify`, stop the core and move the journal away as evidence"
        )


def _as_it_is(value: T) -> T:
    return value


# The driver asks every value that is no number or text whether it can adapt itself, which costs
# more than to write it, unless it finds an adapter here.
for _kind in (bytes, type(None)):
    sqlite3.register_adapter(_kind, _as_it_is)


def insert_rows(
    connection: sqlite3.Connection, rows: Sequence[JournalRow], purged: Sequence[int] = ()
) -> None:
    """Writes the rows in one transaction; raises `sqlite3.Error` and leaves none of them.

    Raises `ForeignWriteError` where the database was made to drop some.

    In the same transaction the rows numbered `purged` lose their data, as one of the new tells.

    A statement takes many rows at once: each statement gives up the interpreter's lock, and a
    busy event loop hands it back only after some milliseconds.
    """
    sizes = _sizes(len(rows))
    alone = len(sizes) == 1 and not purged
    done = 0
    try:
        if not alone:
            connection.execute("BEGIN IMMEDIATE")
        for size in sizes:
            block = rows[done : done + size]
            added = connection.execute(
                _INSERT + ",".join([_VALUES] * size),
                [value for row in block for value in msgspec.structs.astuple(row)],
            ).rowcount
            if added != size:
                # Only a trigger does that, and there was none when the journal was opened.
                raise ForeignWriteError
            done += size
        if purged:
            drop_row_data(connection, purged)
        if not alone:
            connection.execute("COMMIT")
    except (sqlite3.Error, ForeignWriteError):
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def drop_row_data(connection: sqlite3.Connection, seqs: Sequence[int]) -> None:
    """Takes these rows' data away, and their bytes off the pages; raises `sqlite3.Error`.

    A checkpoint keeps its own: without it the rows before it could not be told from lost ones.
    """
    connection.execute("PRAGMA secure_delete=ON")
    connection.execute(
        "UPDATE record SET data = NULL WHERE kind <> 'policy.checkpoint'"
        " AND seq IN (SELECT value FROM json_each(?))",
        (msgspec.json.encode(seqs).decode(),),
    )


def delete_rows(connection: sqlite3.Connection, upto: int) -> None:
    """Deletes the rows up to a number, never the newest; raises `sqlite3.Error`."""
    with _unhurried(connection):
        connection.execute(
            "DELETE FROM record WHERE seq <= ? AND seq < (SELECT max(seq) FROM record)", (upto,)
        )


def give_back_pages(connection: sqlite3.Connection) -> bool:
    """Shortens the file by some of its free pages; returns whether there are too many left."""
    free: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    if free <= SPARE_PAGES:
        return False
    with _unhurried(connection):
        # It gives back a page for each step, and only a script is stepped to its end.
        connection.executescript(f"PRAGMA incremental_vacuum({GIVEN_BACK_PAGES})")
    left: int = connection.execute("PRAGMA freelist_count").fetchone()[0]
    return SPARE_PAGES < left < free


def truncate_log(connection: sqlite3.Connection) -> bool:
    """Moves the log into the database and empties it; False, at once, while somebody reads."""
    limit_ms: int = connection.execute("PRAGMA busy_timeout").fetchone()[0]
    connection.execute("PRAGMA busy_timeout=0")
    try:
        busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.execute(f"PRAGMA busy_timeout={limit_ms}")
    return not busy


def foreign_version(connection: sqlite3.Connection) -> int:
    """Returns a number that another connection's commit changes, and none of this one's."""
    version: int = connection.execute("PRAGMA data_version").fetchone()[0]
    return version


def newest_head(connection: sqlite3.Connection) -> Head:
    """Returns the end of the chain as the database holds it; raises `sqlite3.Error`."""
    row = connection.execute("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1").fetchone()
    if not row:
        return START
    if not isinstance(row[0], int) or row[0] > LAST_SEQ:
        raise sqlite3.DatabaseError("the number of its newest record leaves none for the next")
    return Head(*row)


@contextmanager
def _unhurried(connection: sqlite3.Connection) -> Iterator[None]:
    """Lets the block's changes reach the disk later: whether they are there decides nothing."""
    connection.execute("PRAGMA synchronous=NORMAL")
    try:
        yield
    finally:
        connection.execute("PRAGMA synchronous=FULL")


def _sizes(count: int) -> list[int]:
    # Few different statements, so that each stays prepared; any small count is a single one.
    sizes = []
    for block in _BLOCKS:
        sizes += [block] * (count // block)
        count %= block
    return [*sizes, count] if count else sizes


class JournalDisk:
    """The disk side of the journal; each method raises `OSError` or `sqlite3.Error`.

    `written` is the end of the rows on disk, `fault` what `journal.head` gave away about the
    journal at its opening, if anything.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._version = foreign_version(connection)
        self.written = newest_head(connection)
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

    def insert(self, rows: Sequence[JournalRow], purged: Sequence[int] = ()) -> None:
        """Writes the rows, all of them or none; they outlive a power cut when this returns.

        The rows numbered `purged` lose their data with it.
        """
        insert_rows(self._connection, rows, purged)
        self.written = Head(rows[-1].seq, rows[-1].hash)

    def demand_alone(self) -> None:
        """Raises `ForeignWriteError` when another program has written since this was opened.

        Whatever it committed before the newest rows shows here, so that these can be relied on.
        """
        if foreign_version(self._connection) != self._version:
            raise ForeignWriteError

    def empty_log(self) -> bool:
        """Moves SQLite's log into the database and empties it; False while somebody reads."""
        return truncate_log(self._connection)

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
        delete_rows(self._connection, upto)

    def give_back(self) -> bool:
        """Returns some free pages to the file system; the result is whether there are more."""
        return give_back_pages(self._connection)

    def close(self) -> None:
        """Closes the files."""
        self._connection.close()
        self._head_file.close()
