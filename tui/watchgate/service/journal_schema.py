"""The journal's database: its one table, how it is opened, and what its errors mean."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from watchgate.core.chain import START, Head, Row

T = TypeVar("T")

FORMAT = 1
"""Kept as `user_version`; a change of the table raises it and brings a migration."""

BATCH_ROWS = 256
BUSY_TIMEOUT_S = 2.0
_APPLICATION_ID = 0x57474A31  # "WGJ1", so that `file` and we can tell it from other databases

_TABLE = """CREATE TABLE record (
  seq INTEGER PRIMARY KEY, v INTEGER NOT NULL, core TEXT NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, agent TEXT, session TEXT, sub TEXT, call TEXT, request TEXT,
  data TEXT, digest TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
) STRICT"""
LAST_SEQ = 2**62
"""No record has a higher number: SQLite's own end is not far above."""

_INSERT = "INSERT INTO record VALUES "
_PLACES = ("CAST(? AS TEXT)" if field == "data" else "?" for field in Row.__struct_fields__)
_VALUES = f"({','.join(_PLACES)})"
_BLOCKS = (256, 64, 16)


def _as_it_is(value: T) -> T:
    return value


# The driver asks every value that is no number or text whether it can adapt itself, which costs
# more than to write it, unless it finds an adapter here.
for _kind in (bytes, type(None)):
    sqlite3.register_adapter(_kind, _as_it_is)


class JournalError(Exception):
    """The journal cannot be used; the message names the file and the mend."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        super().__init__(f"the journal {path} {why}")


def open_to_write(path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """A connection whose every transaction is on the disk when it returns; makes the file if new.

    Raises `JournalError` for a file that is not ours, not a journal, damaged or of a newer format.
    """
    try:
        _own_file(path)
        connection = sqlite3.connect(
            path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise JournalError(path, reason(error)) from error
    try:
        _prepare(path, connection)
    except sqlite3.Error as error:
        connection.close()
        raise JournalError(path, reason(error)) from error
    except JournalError:
        connection.close()
        raise
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """A connection that can change nothing; works beside a running core and without one.

    Raises `JournalError` like `open_to_write`, and when there is no journal yet.
    """
    if not path.exists():
        raise JournalError(path, "does not exist yet: it is made by the first start of a core")
    try:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
        # Text that is not UTF-8 was not written by us: read so, it does not match its hash.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    except sqlite3.Error as error:
        raise JournalError(path, reason(error)) from error
    try:
        if _format(path, connection) == 0:
            raise JournalError(path, "is an empty database: a core has not written to it yet")
    except sqlite3.Error as error:
        connection.close()
        raise JournalError(path, reason(error)) from error
    except JournalError:
        connection.close()
        raise
    return connection


def insert(connection: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write the rows in one transaction; raises `sqlite3.Error` and leaves none of them.

    A statement takes many rows at once: each statement gives up the interpreter's lock, and a
    busy event loop hands it back only after some milliseconds.
    """
    sizes = _sizes(len(rows))
    alone = len(sizes) == 1
    done = 0
    try:
        if not alone:
            connection.execute("BEGIN IMMEDIATE")
        for size in sizes:
            block = rows[done : done + size]
            connection.execute(
                _INSERT + ",".join([_VALUES] * size),
                [value for row in block for value in msgspec.structs.astuple(row)],
            )
            done += size
        if not alone:
            connection.execute("COMMIT")
    except sqlite3.Error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def newest(connection: sqlite3.Connection) -> Head:
    """The end of the chain as the database holds it; raises `sqlite3.Error`."""
    found = connection.execute("SELECT seq, hash FROM record ORDER BY seq DESC LIMIT 1").fetchone()
    if not found:
        return START
    if not isinstance(found[0], int) or found[0] > LAST_SEQ:
        raise sqlite3.DatabaseError("the number of its newest record leaves none for the next")
    return Head(*found)


def reason(error: OSError | sqlite3.Error) -> str:
    """What an error means for the journal, with the mend."""
    name = getattr(error, "sqlite_errorname", "") or ""
    if name.startswith("SQLITE_FULL"):
        return "found no space on its disk: make room there"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "is locked by another program: end that one"
    if name.startswith("SQLITE_NOTADB"):
        return "is not a database: move it away, then a new one is made"
    if name.startswith("SQLITE_CORRUPT"):
        return "is damaged: stop the core and move it away, then a new one is made"
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        return f"cannot be opened or written ({error}): give yourself write access to it"
    return f"failed: {error}"


def _own_file(path: Path) -> None:
    # SQLite would make it with the umask's mode, and its companions copy the mode.
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        pass
    else:
        return
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise JournalError(path, "is not a plain file: move it away")
    if status.st_uid != os.geteuid():
        raise JournalError(path, f"belongs to user {status.st_uid}: move it away")
    if status.st_mode & 0o077:
        mode = stat.S_IMODE(status.st_mode)
        raise JournalError(path, f"is open to others (mode {mode:04o}): run `chmod 600 {path}`")


def _prepare(path: Path, connection: sqlite3.Connection) -> None:
    version = _format(path, connection)
    if connection.execute("PRAGMA journal_mode=WAL").fetchone()[0] != "wal":
        raise JournalError(path, "needs a local disk: set WATCHGATE_STATE_DIR to a directory there")
    connection.execute("PRAGMA synchronous=FULL")
    # On macOS an fsync alone stops at the drive's cache; elsewhere this changes nothing.
    connection.execute("PRAGMA fullfsync=1")
    # The lock alone is also given for a file that can only be read; a write is not.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version={version}")
    connection.execute("ROLLBACK")
    if version == 0:
        connection.executescript(
            f"BEGIN IMMEDIATE; {_TABLE}; PRAGMA application_id={_APPLICATION_ID};"
            f"PRAGMA user_version={FORMAT}; COMMIT;"
        )


def _format(path: Path, connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    found = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
    if application != _APPLICATION_ID and (application or version or found):
        raise JournalError(path, "is the database of another program: move it away")
    if version > FORMAT:
        raise JournalError(
            path,
            f"was written by a newer Watchgate (format {version}, this one knows {FORMAT}): "
            "upgrade, or move it away",
        )
    # A trigger would change what is written, a view what is read, another table how it is checked.
    if version == FORMAT and found != [(_TABLE,)]:
        raise JournalError(path, "was rebuilt by another program: move it away as evidence")
    return version


def _sizes(count: int) -> list[int]:
    # Few different statements, so that each stays prepared; any small count is a single one.
    sizes = []
    for block in _BLOCKS:
        sizes += [block] * (count // block)
        count %= block
    return [*sizes, count] if count else sizes
