"""Opens a database of another program so that nothing of it changes.

Sources: SQLite's documentation of the file header, of WAL mode and of the URI parameters `mode`,
`immutable` and `readonly_shm`.
"""

from __future__ import annotations

import os
import sqlite3
from urllib.parse import quote

from watchgate.service.usage.followed_file import NEVER, Stamp, stamp

HEADER_BYTES = 20
_MAGIC = b"SQLite format 3\0"
_READ_VERSION = 19
_WAL = 2
_PROGRAMS = """
SELECT name FROM sqlite_master
WHERE lower(name) = :table AND (type <> 'table' OR coalesce(rootpage, 0) = 0)
UNION ALL SELECT name FROM pragma_table_xinfo(:table) WHERE hidden
"""


def wal_stamp(path: str) -> Stamp:
    """Returns the stamp of the database's write-ahead log, if it has one."""
    try:
        return stamp(os.lstat(path + "-wal"))
    except (OSError, ValueError):
        return NEVER


def read_only(path: str, header: bytes) -> sqlite3.Connection:
    """Opens a connection that writes nothing and makes no file; raises `sqlite3.Error`.

    Texts come as bytes. A reader of a log needs its files and would make those that are missing;
    without a log the database is a file like any other, and is read as one.
    """
    if len(header) < HEADER_BYTES or not header.startswith(_MAGIC):
        raise sqlite3.DatabaseError("it is no database")
    options = "mode=ro"
    if header[_READ_VERSION] == _WAL:
        has_log = wal_stamp(path).size > 0
        options = "mode=ro&readonly_shm=1" if has_log else "mode=ro&immutable=1"
    uri = f"file:{quote(os.fsencode(path))}?{options}"
    database = sqlite3.connect(uri, uri=True, timeout=0, isolation_level=None)
    database.text_factory = bytes
    return database


def only_stored(database: sqlite3.Connection, *tables: str) -> None:
    """Raises `sqlite3.DatabaseError` if one of these (in lower case) is more than stored rows.

    A view or a column can be a program that never ends, or that makes any number of bytes.
    """
    for table in tables:
        if database.execute(_PROGRAMS, {"table": table}).fetchone() is not None:
            raise sqlite3.DatabaseError(f"{table} is no plain table")
