"""The index's database beside the journal: made, opened, checked and removed.

- Filling the index from the journal, some records at a time.
"""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.chain.chain_walk import PURGE_KIND
from watchgate.core.chain.hash_chain import START, Head
from watchgate.core.model.records import Record, is_session_event
from watchgate.service.search.index_terms import folder_of, index_document

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


def remove_index(journal: Path) -> None:
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
        remove_index(journal)
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


def newest_indexed(connection: sqlite3.Connection) -> Head:
    """Returns the newest record that is indexed; raises `sqlite3.Error`."""
    row = connection.execute("SELECT seq, hash FROM reached").fetchone()
    if row is None or not isinstance(row[0], int):
        raise sqlite3.DatabaseError("it does not say how far it goes")
    return Head(*row)


def belongs_to(journal: sqlite3.Connection, to: Head) -> bool:
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
    newest_indexed(connection)


def _marks(connection: sqlite3.Connection) -> tuple[int, int]:
    application: int = connection.execute("PRAGMA application_id").fetchone()[0]
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return application, version


AT_ONCE = 2_000
BYTES_AT_ONCE = 8 << 20
_COLUMNS = "seq,at,kind,agent,session,call,request,CAST(data AS BLOB),hash"
_AFTER = f"SELECT {_COLUMNS} FROM record WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 - ours
_WORDS = """CREATE VIRTUAL TABLE words_{} USING fts5
(text, content='', columnsize=0, detail=none, tokenize='ascii')"""
_SESSION = """INSERT INTO session VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
folder = iif(session.folder = '', excluded.folder, session.folder),
last_seq = excluded.last_seq, last_at = max(session.last_at, excluded.last_at)"""


class IndexedSession(msgspec.Struct):
    """A session in the index: its first and its latest record, by number and by time (UTC µs).

    `folder` is the one that it first worked in, empty while unknown.
    """

    agent: str
    session: str
    folder: str
    first_seq: int
    last_seq: int
    first_at: int
    last_at: int


def records_after(journal: sqlite3.Connection, seq: int, limit: int = AT_ONCE) -> list[Record]:
    """Returns the journal's next records as far as the index needs them; raises `sqlite3.Error`."""
    batch: list[Record] = []
    size = 0
    for row in journal.execute(_AFTER, (seq, limit)):
        number, at, kind, agent, session, call, request, data, own = row
        batch.append(
            Record(
                v=1,
                seq=number,
                core="",
                at=at,
                kind=kind,
                agent=agent,
                session=session,
                call=call,
                request=request,
                data=_decoded(data),
                hash=own,
            )
        )
        size += len(data or b"")
        if size >= BYTES_AT_ONCE:
            break
    return batch


def note_begin(index: sqlite3.Connection, newest: int) -> None:
    """Notes in an empty index where its journal ends now.

    Raises `sqlite3.Error`.
    """
    index.execute("UPDATE reached SET begun = ?", (newest,))


def is_stale(index: sqlite3.Connection, batch: Sequence[Record]) -> bool:
    """Returns whether one of these records purged indexed ones; raises `sqlite3.Error`.

    What was purged before the index was begun was no longer there to be indexed.
    """
    purges = [record.seq for record in batch if record.kind == PURGE_KIND]
    return bool(purges) and purges[-1] > index.execute("SELECT begun FROM reached").fetchone()[0]


def store_batch(index: sqlite3.Connection, batch: Sequence[Record]) -> None:
    """Indexes these records, the next ones; all or, with `sqlite3.Error`, none."""
    index.execute("BEGIN IMMEDIATE")
    try:
        _insert(index, batch)
        index.executemany(_SESSION, map(msgspec.structs.astuple, sessions_in(batch)))
        end = batch[-1].seq, batch[-1].hash
        index.execute("UPDATE reached SET seq = ?, hash = ?", end)
        index.execute("COMMIT")
    except sqlite3.Error:
        if index.in_transaction:
            index.execute("ROLLBACK")
        raise


def forget_before(index: sqlite3.Connection, oldest: int) -> None:
    """Drops the entries that are only about records older than the oldest one.

    Raises `sqlite3.Error`.
    """
    for number in segments(index):
        if (number + 1) * SEGMENT_ROWS <= oldest:
            # A table that is gone while its number is still there would be an index that fails.
            index.execute("BEGIN IMMEDIATE")
            index.execute("DELETE FROM segment WHERE number = ?", (number,))
            index.execute(f"DROP TABLE words_{number}")
            index.execute("COMMIT")
    index.execute("DELETE FROM session WHERE last_seq < ?", (oldest,))


def segments(index: sqlite3.Connection) -> list[int]:
    """Returns the numbers of the tables of words, the newest first."""
    return [int(n) for (n,) in index.execute("SELECT number FROM segment ORDER BY number DESC")]


def sessions_in(records: Iterable[Record]) -> list[IndexedSession]:
    """Returns the sessions of these records, which come in their order."""
    sessions: dict[tuple[str, str], IndexedSession] = {}
    for record in records:
        if not is_session_event(record) or record.agent is None or record.session is None:
            continue
        key = record.agent, record.session
        each = sessions.get(key)
        if each is None:
            each = sessions[key] = IndexedSession(
                *key, "", record.seq, record.seq, record.at, record.at
            )
        each.last_seq, each.last_at = record.seq, max(each.last_at, record.at)
        if not each.folder and isinstance(cwd := record.data.get("cwd"), str):
            each.folder = folder_of(cwd)
    return list(sessions.values())


def _decoded(data: bytes | None) -> dict[str, Any]:
    try:
        return _decode(data) if data else {}
    except JSON_FAULTS:
        return {}  # changed from outside; its record is still there to be found by its columns


def _insert(index: sqlite3.Connection, batch: Sequence[Record]) -> None:
    known = set(segments(index))
    for number, records in _by_segment(batch):
        if number not in known:
            index.execute(_WORDS.format(number))
            index.execute("INSERT INTO segment VALUES (?)", (number,))
        index.executemany(
            f"INSERT INTO words_{number} (rowid, text) VALUES (?, ?)",  # noqa: S608 - a number
            ((record.seq, _document(record)) for record in records),
        )


def _document(record: Record) -> str:
    try:
        return index_document(record)
    except (AttributeError, TypeError, ValueError):
        # Data of another shape, changed from outside or of a later version.
        return index_document(msgspec.structs.replace(record, data={}))


def _by_segment(batch: Sequence[Record]) -> Iterator[tuple[int, list[Record]]]:
    start = 0
    while start < len(batch):
        number = batch[start].seq // SEGMENT_ROWS
        end = start
        while end < len(batch) and batch[end].seq // SEGMENT_ROWS == number:
            end += 1
        yield number, list(batch[start:end])
        start = end


_decode = decoding.decoder(dict[str, Any]).decode
