"""The journal, read: by the core for old records, and by the command line without any core."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.chain import Row
from watchgate.core.records import Record
from watchgate.service.journal.schema import JournalError, open_to_read, reason

# Wall clocks are set back now and then; that far before the time asked for, `since` looks too.
SLACK_US = 3_600 * 1_000_000
_COLUMNS = ("CAST(data AS BLOB)" if field == "data" else field for field in Row.__struct_fields__)
_SEQ, _AT = (Row.__struct_fields__.index(field) for field in ("seq", "at"))
_SELECT = f"SELECT {','.join(_COLUMNS)} FROM record"  # noqa: S608 - our own column names


def read(path: Path, from_seq: int, to_seq: int) -> Iterator[Record]:
    """The records numbered `from_seq` to `to_seq`, both included, oldest first.

    Raises `JournalError`, as all functions here do, for a journal that cannot be read.
    """
    return _records(path, "WHERE seq BETWEEN ? AND ? ORDER BY seq", from_seq, to_seq)


def sized(
    path: Path, from_seq: int, to_seq: int, *, newest_first: bool = False
) -> Iterator[tuple[int, Record]]:
    """The records numbered `from_seq` to `to_seq`, each with the bytes that its data takes."""
    order = "DESC" if newest_first else "ASC"
    with closing(open_to_read(path)) as connection:
        clause = f"WHERE seq BETWEEN ? AND ? ORDER BY seq {order}"
        for row in rows(path, connection, clause, from_seq, to_seq):
            yield len(row.data or b""), _as_written(row).record()


def numbered(
    path: Path, numbers: Sequence[int], *, newest_first: bool = False
) -> Iterator[tuple[int, Record]]:
    """The records with these numbers in their order, each with the bytes that its data takes."""
    order = "DESC" if newest_first else "ASC"
    with closing(open_to_read(path)) as connection:
        clause = f"WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq {order}"  # noqa: S608
        for row in rows(path, connection, clause, _listed(numbers)):
            yield len(row.data or b""), _as_written(row).record()


def calls_of(path: Path, numbers: Sequence[int]) -> set[tuple[str, str, str]]:
    """Agent, session and id of the calls that the records with these numbers are about."""
    return _calls(path, "seq IN (SELECT value FROM json_each(?))", _listed(numbers))


def calls_begun(
    path: Path, numbers: Sequence[int], first: int, last: int
) -> set[tuple[str, str, str]]:
    """Those of these calls that have a record from `first` to `last`, too."""
    clause = (
        "seq IN (SELECT value FROM json_each(?))"
        " AND call IN (SELECT call FROM record WHERE seq BETWEEN ? AND ?)"
    )
    return _calls(path, clause, _listed(numbers), first, last)


def calls_among(
    path: Path, kinds: Sequence[str], first: int, last: int
) -> set[tuple[str, str, str]]:
    """Agent, session and id of the calls with a record of some kinds from `first` to `last`."""
    clause = "seq BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))"
    return _calls(path, clause, first, last, _listed(kinds))


def tail(path: Path, count: int) -> list[Record]:
    """The newest `count` records, oldest first."""
    return list(_records(path, "ORDER BY seq DESC LIMIT ?", count))[::-1]


def of_kind(path: Path, kind: str, among: int, count: int) -> Iterator[Record]:
    """The newest `count` records of a kind among the last `among` records, newest first."""
    with closing(open_to_read(path)) as connection:
        clause = (
            "WHERE kind = ? AND seq > (SELECT coalesce(max(seq), 0) FROM record) - ? "
            "ORDER BY seq DESC LIMIT ?"
        )
        for row in rows(path, connection, clause, kind, among, count):
            yield _as_written(row).record()


def ends(path: Path) -> tuple[int, int]:
    """The numbers of the oldest and the newest record; (1, 0) while there is none."""
    with closing(open_to_read(path)) as connection:
        try:
            low = connection.execute("SELECT min(seq) FROM record").fetchone()[0]
            high = connection.execute("SELECT max(seq) FROM record").fetchone()[0]
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error
    return (low, high) if isinstance(low, int) and isinstance(high, int) else (1, 0)


def among(path: Path, kinds: Sequence[str], first: int, last: int) -> Iterator[Record]:
    """The records of some kinds numbered `first` to `last`, oldest first."""
    clause = "WHERE seq BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY seq"
    return _records(path, clause, first, last, _listed(kinds))


def about(
    path: Path, calls: Sequence[str], kinds: Sequence[str], first: int, last: int
) -> Iterator[Record]:
    """The records of these calls, and all of some kinds, numbered `first` to `last`, oldest first.

    Every row of the range is looked at, though not into its data: about 1 ms for 3,000.
    """
    clause = (
        "WHERE seq BETWEEN ? AND ? AND (call IN (SELECT value FROM json_each(?))"
        " OR kind IN (SELECT value FROM json_each(?))) ORDER BY seq"
    )
    return _records(path, clause, first, last, _listed(calls), _listed(kinds))


def since(path: Path, at_us: int) -> Iterator[Record]:
    """The records made at `at_us` (UTC µs) or later, in the order of their numbers.

    Numbers follow time, so the start is searched for by halves, which an index on each row's time
    would cost a quarter of every write. A clock set back by over an hour may hide records.
    """
    with closing(open_to_read(path)) as connection:
        first = _first_since(path, connection, at_us - SLACK_US)
        for row in rows(path, connection, "WHERE seq >= ? AND at >= ? ORDER BY seq", first, at_us):
            yield _as_written(row).record()


def firsts(path: Path, times_us: Sequence[int]) -> list[int]:
    """The number of the first record made at each of these times or later."""
    with closing(open_to_read(path)) as connection:
        return [_first_since(path, connection, at_us) for at_us in times_us]


def in_time(
    path: Path, first: int, last: int, since_us: int | None, until_us: int | None
) -> tuple[int, int]:
    """What of `first` to `last` can have been made from `since_us` on and before `until_us`.

    As `since` it takes clocks to have been set back by an hour at most.
    """
    if since_us is None and until_us is None:
        return first, last
    with closing(open_to_read(path)) as connection:
        if since_us is not None:
            first = max(first, _first_since(path, connection, since_us - SLACK_US))
        if until_us is not None:
            last = min(last, _first_since(path, connection, until_us + SLACK_US) - 1)
    return first, last


def _listed(values: Sequence[str] | Sequence[int]) -> str:
    return msgspec.json.encode(values).decode()


def _calls(path: Path, clause: str, *values: int | str) -> set[tuple[str, str, str]]:
    select = (
        "SELECT DISTINCT coalesce(agent, ''), coalesce(session, ''), call FROM record"  # noqa: S608
        f" WHERE call <> '' AND {clause}"
    )
    with closing(open_to_read(path)) as connection:
        try:
            return {(str(a), str(s), str(c)) for a, s, c in connection.execute(select, values)}
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error


def _records(path: Path, clause: str, *values: int | str) -> Iterator[Record]:
    with closing(open_to_read(path)) as connection:
        for row in rows(path, connection, clause, *values):
            yield _as_written(row).record()


def _as_written(row: Row) -> Row:
    """The row without data that are not those that were written: they could be of any shape."""
    if row.data is None or sha256(row.data).hexdigest() == row.digest:
        return row
    return msgspec.structs.replace(row, data=None)


def _first_since(path: Path, connection: sqlite3.Connection, at_us: int) -> int:
    probe = "SELECT seq, at FROM record WHERE seq >= ? ORDER BY seq LIMIT 1"
    try:
        # One statement for both would go through the whole table.
        low = connection.execute("SELECT coalesce(min(seq), 1) FROM record").fetchone()[0]
        high = connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM record").fetchone()[0]
        while low < high:
            middle = (low + high) // 2
            seq, at = _sound(connection.execute(probe, (middle,)).fetchone(), 0, 1)
            if at < at_us:
                low = seq + 1
            else:
                high = middle
    except sqlite3.Error as error:
        raise JournalError(path, reason(error)) from error
    return int(low)


def _sound(found: tuple[Any, ...], seq: int = _SEQ, at: int = _AT) -> tuple[Any, ...]:
    """The same values; damaged pages may lack what the table demands, then `sqlite3.Error`."""
    if not (isinstance(found[seq], int) and isinstance(found[at], int)):
        raise sqlite3.DatabaseError("it holds a record without a number or time")
    return found


def rows(
    path: Path, connection: sqlite3.Connection, clause: str, *values: int | str
) -> Iterator[Row]:
    """The rows that a clause takes, as they stand in the journal: nothing of them is proven."""
    try:
        for found in connection.execute(f"{_SELECT} {clause}", values):
            yield Row(*_sound(found))
    except sqlite3.Error as error:
        raise JournalError(path, reason(error)) from error
