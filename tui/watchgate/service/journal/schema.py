"""The journal's database: its one table, its opening, and the meaning of its errors.

- Migration of a journal of an older format, before this program writes to it.
"""

from __future__ import annotations

import errno
import os
import sqlite3
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

Step = Callable[[sqlite3.Connection], None]


def migrate(connection: sqlite3.Connection, version: int, wanted: int) -> None:
    """Brings the journal from the format `version` to `wanted`, one step after the other.

    A step is one transaction under SQLite's own lock, and may be taken again over what it made: a
    core that is killed leaves the older format, whole. Raises `sqlite3.Error`.
    """
    for older in range(version, wanted):
        STEPS[older](connection)
        connection.execute(f"PRAGMA user_version={older + 1}")


def _with_pages_to_give_back(connection: sqlite3.Connection) -> None:
    """Makes a file of format 2, which can shrink: only one that is written anew can."""
    connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


STEPS: Mapping[int, Step] = {1: _with_pages_to_give_back}
"""The step from each older format to the next."""


FORMAT = 2
"""Kept as `user_version`; a change of the file raises it and brings a migration."""

BUSY_TIMEOUT_S = 2.0
_APPLICATION_ID = 0x57474A31  # "WGJ1", so that `file` and we can tell it from other databases

_TABLE = """CREATE TABLE record (
  seq INTEGER PRIMARY KEY, v INTEGER NOT NULL, core TEXT NOT NULL, at INTEGER NOT NULL,
  kind TEXT NOT NULL, agent TEXT, session TEXT, sub TEXT, call TEXT, request TEXT,
  data TEXT, digest TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
) STRICT"""
LAST_SEQ = 2**62
"""No record has a higher number: SQLite's own end is not far above."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NO_ACCESS = (errno.EACCES, errno.EPERM, errno.EROFS)


class JournalError(Exception):
    """The journal cannot be used; the message names the file and the mend.

    `mendable` says that it is our journal and that a core may wait for it: for room on the disk, a
    lock, access, or another file in the place of a damaged one.
    """

    def __init__(self, path: Path, why: str, *, mendable: bool = False) -> None:
        self.path = path
        self.mendable = mendable
        super().__init__(f"the journal {path} {why}")


def open_to_write(path: Path, busy_timeout_s: float = BUSY_TIMEOUT_S) -> sqlite3.Connection:
    """Opens a connection whose every transaction is on disk when it returns; may make the file.

    Raises `JournalError` for a file that is not ours, not a journal, damaged or of a newer format.
    """
    try:
        _own_file(path)
        connection = sqlite3.connect(
            path, timeout=busy_timeout_s, isolation_level=None, check_same_thread=False
        )
    except (OSError, sqlite3.Error) as error:
        raise journal_error(path, error) from error
    try:
        _prepare(path, connection)
    except sqlite3.Error as error:
        connection.close()
        raise journal_error(path, error) from error
    except JournalError:
        connection.close()
        raise
    return connection


def open_to_read(path: Path) -> sqlite3.Connection:
    """Opens a connection that can change nothing; works beside a running core and without one.

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


def journal_error(path: Path, error: OSError | sqlite3.Error) -> JournalError:
    """Returns the journal's error for an error of its writer."""
    waits = (errno.EIO, *_NO_SPACE, *_NO_ACCESS)
    mendable = isinstance(error, sqlite3.Error) or error.errno in waits
    return JournalError(path, reason(error), mendable=mendable)


def reason(error: OSError | sqlite3.Error) -> str:
    """Returns the meaning of an error for the journal, with the mend."""
    name = getattr(error, "sqlite_errorname", "") or ""
    number = error.errno if isinstance(error, OSError) else None
    if name.startswith("SQLITE_FULL") or number in _NO_SPACE:
        return "found no space on its disk: make room there"
    if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
        return "is locked by another program: end that one"
    if name.startswith("SQLITE_NOTADB"):
        return "is not a database: move it away, then a new one is made"
    if name.startswith("SQLITE_CORRUPT"):
        return "is damaged: stop the core and move it away, then a new one is made"
    if name in ("SQLITE_READONLY_ROLLBACK", "SQLITE_READONLY_RECOVERY"):
        return "was left in the middle of a change: start a core, which ends or undoes it"
    denied = name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM"))
    if denied or number in _NO_ACCESS:
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
    if version == 0:
        # It takes hold only before the file has its first page, which the next line writes.
        connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
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
    elif version < FORMAT:
        migrate(connection, version, FORMAT)


def _format(path: Path, connection: sqlite3.Connection) -> int:
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = connection.execute("SELECT sql FROM sqlite_schema").fetchall()
    ours = application == _APPLICATION_ID
    if version < 0 or (not ours and (application or version or tables)):
        raise JournalError(path, "is the database of another program: move it away")
    if version > FORMAT:
        raise JournalError(
            path,
            f"was written by a newer Watchgate (format {version}, this one knows {FORMAT}): "
            "upgrade, or move it away",
        )
    # A trigger would change what is written, a view what is read, another table how it is checked.
    if ours and (version == 0 or tables != [(_TABLE,)]):
        raise JournalError(path, "was rebuilt by another program: move it away as evidence")
    return version
