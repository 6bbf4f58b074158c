"""The index's database beside the journal: made, opened, checked and removed."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from watchgate.core.chain import START, Head

FORMAT = 1
"""Kept as `user_version`; an index of another format is made anew, never changed."""

BUSY_TIMEOUT_S = 2.0
SEGMENT_ROWS = 1 << 17
"""Records of one table of words: a search begins with the newest, old ones are dropped whole."""

_APPLICATION_ID = 0x57474958  # "WGIX"
_TABLES = """
CREATE TABLE reached (
  one INTEGER PRIMARY KEY CHECK (one = 1), seq INTEGER, hash TEXT, begun INTEGER NOT NULL
) STRICT;
CREATE TABLE segment (number INTEGER PRIMARY KEY) STRICT;
CREATE TABLE session (
  agent TEXT, session TEXT, folder TEXT NOT NULL, first_seq INTEGER NOT NULL,
  last_seq INTEGER NOT NULL, first_at INTEGER NOT NULL, last_at INTEGER NOT NULL,
  PRIMARY KEY (agent, session)
) STRICT, WITHOUT ROWID;
INSERT INTO reached VALUES (1, 0, '', 0);
"""


def index_path(journal: Path) -> Path:
    """Returns the path of a journal's index."""
    return journal.with_name(f"{journal.stem}.index.db")


def remove(journal: Path) -> None:
    """Removes the index of a journal: the next core makes it anew. Raises `OSError`."""
    path = index_path(journal)
    for end in ("", "-wal", "-shm"):
        path.with_name(path.name + end).unlink(missing_ok=True)


def open_to_fill(journal: Path) -> sqlite3.Connection:
    """Opens the index to write, and makes it where there is none that can be used.

    Raises `OSError` and `sqlite3.Error`.
    """
    try:
        connection = _opened(index_path(journal))
    except (sqlite3.Error, ValueError) as error:
        if not beyond_repair(error):
            raise
        remove(journal)
        connection = _opened(index_path(journal))
    return connection


@contextmanager
def opened_to_read(journal: Path) -> Iterator[sqlite3.Connection | None]:
    """Yields a connection to the index that can change nothing; None without a usable one."""
    path = index_path(journal)
    if not path.exists():
        yield None
        return
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    except sqlite3.Error:
        yield None
        return
    with closing(connection):
        try:
            usable = _marks(connection) == (_APPLICATION_ID, FORMAT)
        except sqlite3.Error:
            usable = False
        yield connection if usable else None


def reached(connection: sqlite3.Connection) -> Head:
    """Returns the newest record that is indexed; raises `sqlite3.Error`."""
    row = connection.execute("SELECT seq, hash FROM reached").fetchone()
    if row is None or not isinstance(row[0], int):
        raise sqlite3.DatabaseError("it does not say how far it goes")
    return Head(*row)


def belongs(journal: sqlite3.Connection, to: Head) -> bool:
    """Returns whether the journal holds the record that its index says it ends with."""
    if to == START:
        return True
    row = journal.execute("SELECT hash FROM record WHERE seq = ?", (to.seq,)).fetchone()
    return row is not None and row[0] == to.hash


def beyond_repair(error: Exception) -> bool:
    """Returns whether the file itself is at fault, not a disk, lock or right to be given later."""
    if isinstance(error, OSError):
        return False
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
    return code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)


def _opened(path: Path) -> sqlite3.Connection:
    """Opens the index at a path, new where there is none; `ValueError` for one that is not ours."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        status = path.lstat()
        own = stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid()
        if not own or status.st_mode & 0o077:
            raise ValueError(f"{path} is not ours alone") from None
    connection = sqlite3.connect(
        path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
    )
    try:
        _prepare(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    # After a power cut it may have lost its last records, which it then takes from the journal.
    connection.execute("PRAGMA synchronous=NORMAL")
    marks = _marks(connection)
    if marks == (0, 0):
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLES} PRAGMA application_id={_APPLICATION_ID};"
            f"PRAGMA user_version={FORMAT}; COMMIT;"
        )
    elif marks != (_APPLICATION_ID, FORMAT):
        raise ValueError("an index of another format")
    reached(connection)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return application, version
