"""Filling the index from the journal, some records at a time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.purges import KIND
from watchgate.core.records import Record, is_heard
from watchgate.service.search.facets import document, folder_of
from watchgate.service.search.index_file import SEGMENT_ROWS

AT_ONCE = 2_000
BYTES_AT_ONCE = 8 << 20
_COLUMNS = "seq,at,kind,agent,session,call,request,CAST(data AS BLOB),hash"
_AFTER = f"SELECT {_COLUMNS} FROM record WHERE seq > ? ORDER BY seq LIMIT ?"  # noqa: S608 - ours
_WORDS = """CREATE VIRTUAL TABLE words_{} USING fts5
(text, content='', columnsize=0, detail=none, tokenize='ascii')"""
_SESSION = """INSERT INTO session VALUES (?,?,?,?,?,?,?) ON CONFLICT DO UPDATE SET
folder = iif(session.folder = '', excluded.folder, session.folder),
last_seq = excluded.last_seq, last_at = max(session.last_at, excluded.last_at)"""


class Seen(msgspec.Struct):
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


def after(journal: sqlite3.Connection, seq: int, limit: int = AT_ONCE) -> list[Record]:
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


def begin(index: sqlite3.Connection, newest: int) -> None:
    """Notes in an empty index where its journal ends now.

    Raises `sqlite3.Error`.
    """
    index.execute("UPDATE reached SET begun = ?", (newest,))


def is_stale(index: sqlite3.Connection, batch: Sequence[Record]) -> bool:
    """Returns whether one of these records purged indexed ones; raises `sqlite3.Error`.

    What was purged before the index was begun was no longer there to be indexed.
    """
    purges = [record.seq for record in batch if record.kind == KIND]
    return bool(purges) and purges[-1] > index.execute("SELECT begun FROM reached").fetchone()[0]


def store(index: sqlite3.Connection, batch: Sequence[Record]) -> None:
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


def sessions_in(records: Iterable[Record]) -> list[Seen]:
    """Returns the sessions of these records, which come in their order."""
    sessions: dict[tuple[str, str], Seen] = {}
    for record in records:
        if not is_heard(record) or record.agent is None or record.session is None:
            continue
        key = record.agent, record.session
        each = sessions.get(key)
        if each is None:
            each = sessions[key] = Seen(*key, "", record.seq, record.seq, record.at, record.at)
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
        return document(record)
    except (AttributeError, TypeError, ValueError):
        # Data of another shape, changed from outside or of a later version.
        return document(msgspec.structs.replace(record, data={}))


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
