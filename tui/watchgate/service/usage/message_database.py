"""Follows the messages of an OpenCode database as they are written.

Source: OpenCode, table `message(id, session_id, time_created, data JSON)`: a message is written
when it begins and again until its `time.completed` is there.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from typing import Any, NamedTuple

import msgspec

from watchgate.agents.usage import FileFacts
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage.file_reading import LINE_BYTES, NotOursError, open_own
from watchgate.service.usage.followed_file import NEVER, FollowedFile, ReaderOf, stamp
from watchgate.service.usage.foreign_sqlite import HEADER_BYTES, only_stored, read_only, wal_stamp

ROWS = 500
"""So many messages are read at once."""
MAX_DEPTH = 20
"""No sub-agent's sub-agents go deeper; a session that is its own parent ends here."""
MAX_OPEN = 500
"""So many messages that are still written are looked at again at each change, the newest."""

_NEW = """
SELECT rowid, id, session_id, CASE WHEN length(data) <= :most THEN data END
FROM message WHERE rowid > :row ORDER BY rowid LIMIT :rows
"""
_ONE = """
SELECT rowid, id, session_id, CASE WHEN length(data) <= :most THEN data END
FROM message WHERE rowid = :row
"""


class _MessageTime(msgspec.Struct):
    completed: float | None = None


class _StoredMessage(msgspec.Struct):
    role: str = ""
    time: _MessageTime = msgspec.field(default_factory=_MessageTime)


class _Row(NamedTuple):
    number: int
    id: object
    session: object
    data: object


_MESSAGE = decoding.decoder(_StoredMessage)


class MessageDatabase(FollowedFile):
    """An OpenCode database, opened for each reading only: the agent must be able to tidy up.

    Messages that are deleted stay counted; only another file in its place is read anew.
    """

    def __init__(self, path: str, agent: str, reader_of: ReaderOf, *, key: str) -> None:
        super().__init__(path, agent, reader_of, key=key)
        self._reader = self._new_reader()
        self._file = (0, 0)
        self._wal = NEVER
        self._schema = -1
        self._last: tuple[int, object] = (0, None)
        self._open: dict[int, object] = {}
        self._more = False

    @property
    def left(self) -> int:
        """Returns its whole size while there is more to read: rows have no known bytes."""
        return self.read_to.size if self._more else 0

    def changed(self) -> bool:
        """Returns whether it, or its log, has changed."""
        return super().changed() or wal_stamp(self.path) != self._wal

    def is_at(self, path: str) -> bool:
        """Returns False: a database that was moved is another one, with the same messages."""
        return bool(path) and False

    def facts_of(self, session: str) -> FileFacts | None:
        """Returns the facts about one of its sessions."""
        facts_of = getattr(self._reader, "facts_of", None)
        facts = facts_of(session) if facts_of is not None else None
        return facts if isinstance(facts, FileFacts) else None

    def _read(self, ledger: Ledger, limit: int) -> int:
        # Both stamps are taken before anything is read: what is written meanwhile comes next time.
        with open_own(self.path) as (descriptor, about):
            header = os.pread(descriptor, HEADER_BYTES, 0)
            now, wal = stamp(about), wal_stamp(self.path)
        if self._file not in ((0, 0), (now.dev, now.ino)):
            self._forget(ledger)
            self._reader, self._schema = self._new_reader(), -1
        self._file = (now.dev, now.ino)
        done = 0
        if now.size:
            self.read_to, self._more = NEVER, False
            try:
                with closing(read_only(self.path, header)) as database:
                    done = self._rows(database, ledger, limit)
            except sqlite3.Error as error:
                raise NotOursError(self.path) from error
        self.read_to, self._wal = now, wal
        return done

    def _rows(self, database: sqlite3.Connection, ledger: Ledger, limit: int) -> int:
        database.execute("BEGIN")
        only_stored(database, "message", "session")
        (schema,) = database.execute("PRAGMA schema_version").fetchone()
        number, name = self._last
        last = _one(database, number)
        if schema != self._schema or (last.id if last else None) != name:
            # Rows may have been numbered anew; the reader knows its messages by their ids.
            self._schema, self._last, self._open = schema, (0, None), {}
        parents = _parents(database)
        done = self._hand_over(self._still_open(database), parents)
        while done < limit:
            wanted = {"row": self._last[0], "rows": ROWS, "most": LINE_BYTES}
            rows, more = _some(database.execute(_NEW, wanted))
            done += self._hand_over(rows, parents)
            if rows:
                self._last = (rows[-1].number, rows[-1].id)
            if not more:
                break
        else:
            self._more = True
        self._tell(ledger, self._reader)
        return done

    def _still_open(self, database: sqlite3.Connection) -> list[_Row]:
        rows = []
        for number, data in list(self._open.items()):
            row = _one(database, number)
            if row is not None and row.data != data:
                rows.append(row)
        return rows

    def _hand_over(self, rows: list[_Row], parents: dict[object, object]) -> int:
        lines = []
        for row in rows:
            if not isinstance(row.data, bytes):
                self.lost += 1
                continue
            self._open.pop(row.number, None)
            if _is_open(row.data):
                self._open[row.number] = row.data
            lines.append(_line(row, parents.get(row.session), row.data))
        while len(self._open) > MAX_OPEN:
            del self._open[next(iter(self._open))]
        chunk = b"".join(lines)
        if chunk:
            self._reader.read(chunk)
        return len(chunk)


def _some(cursor: Iterable[Any]) -> tuple[list[_Row], bool]:
    """Returns rows up to so many bytes, but for the last one; and whether there may be more."""
    rows: list[_Row] = []
    size = 0
    for each in cursor:
        rows.append(row := _Row(*each))
        size += len(row.data) if isinstance(row.data, bytes) else 0
        if size > LINE_BYTES:
            return rows, True
    return rows, len(rows) == ROWS


def _one(database: sqlite3.Connection, number: int) -> _Row | None:
    columns = database.execute(_ONE, {"row": number, "most": LINE_BYTES}).fetchone()
    return None if columns is None else _Row(*columns)


def _is_open(data: bytes) -> bool:
    try:
        message = _MESSAGE.decode(data)
    except JSON_FAULTS:
        return False
    return message.role == "assistant" and message.time.completed is None


def _line(row: _Row, parent: object, data: bytes) -> bytes:
    data = data.replace(b"\n", b" ").replace(b"\r", b" ")
    names = tuple(map(_text, (row.id, row.session, parent)))
    return b'{"id":%b,"session_id":%b,"parent_id":%b,"data":%b}\n' % (*names, data)


def _parents(database: sqlite3.Connection) -> dict[object, object]:
    """Returns the top session of each sub-agent's; none in a database that does not say."""
    try:
        parents = dict(
            database.execute("SELECT id, parent_id FROM session WHERE parent_id NOT NULL")
        )
    except sqlite3.OperationalError:
        return {}
    tops = {}
    for session, parent in parents.items():
        top = parent
        for _ in range(MAX_DEPTH):
            if top not in parents:
                break
            top = parents[top]
        tops[session] = top
    return tops


def _text(value: object) -> bytes:
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
    return msgspec.json.encode(text)
