"""Reading the journal: by the core for old records, and by the command line without any core."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from watchgate.core.chain.hash_chain import JournalRow
from watchgate.core.model.large_inputs import has_reference, resolved
from watchgate.core.model.records import Record
from watchgate.service.journal.schema import JournalError, open_to_read, reason

# Wall clocks are set back now and then; that far before the time asked for, `since` looks too.
SLACK_US = 3_600 * 1_000_000
_COLUMNS = (
    "CAST(data AS BLOB)" if field == "data" else field for field in JournalRow.__struct_fields__
)
_SEQ, _AT = (JournalRow.__struct_fields__.index(field) for field in ("seq", "at"))
_SELECT = f"SELECT {','.join(_COLUMNS)} FROM record"  # noqa: S608 - our own column names
_OF_KINDS = "seq IN (SELECT value FROM json_each(?)) AND kind IN (SELECT value FROM json_each(?))"


class OpenJournal(NamedTuple):
    """A journal that is open for several readings.

    `as_stored`: references in a record stay references; else the input is put in its place.
    """

    path: Path
    connection: sqlite3.Connection
    as_stored: bool = False


@contextmanager
def opened_journal(journal: Path, *, as_stored: bool = False) -> Iterator[OpenJournal]:
    """Opens the journal once: each reading of a path by itself opens it anew, at 0.4 ms."""
    with closing(open_to_read(journal)) as connection:
        yield OpenJournal(journal, connection, as_stored)


def read(journal: Path | OpenJournal, from_seq: int, to_seq: int) -> Iterator[Record]:
    """Yields the records numbered `from_seq` to `to_seq`, both included, oldest first.

    Raises `JournalError`, as all functions here do, for a journal that cannot be read.
    """
    return _records(journal, "WHERE seq BETWEEN ? AND ? ORDER BY seq", from_seq, to_seq)


def sized(
    journal: Path | OpenJournal, from_seq: int, to_seq: int, *, newest_first: bool = False
) -> Iterator[tuple[int, Record]]:
    """Yields the records numbered `from_seq` to `to_seq`, each with the bytes of its data."""
    order = "DESC" if newest_first else "ASC"
    with _opened(journal) as opened:
        clause = f"WHERE seq BETWEEN ? AND ? ORDER BY seq {order}"
        for row in rows(opened.path, opened.connection, clause, from_seq, to_seq):
            yield _record(opened, row)


def numbered(
    journal: Path | OpenJournal, numbers: Sequence[int], *, newest_first: bool = False
) -> Iterator[tuple[int, Record]]:
    """Yields the records with these numbers in their order, each with the bytes of its data."""
    order = "DESC" if newest_first else "ASC"
    with _opened(journal) as opened:
        clause = f"WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq {order}"  # noqa: S608
        for row in rows(opened.path, opened.connection, clause, _listed(numbers)):
            yield _record(opened, row)


def of_kinds(
    journal: Path | OpenJournal, numbers: Sequence[int], kinds: Sequence[str]
) -> Iterator[Record]:
    """Yields the records with these numbers that are of some kinds, oldest first."""
    return _records(journal, f"WHERE {_OF_KINDS} ORDER BY seq", _listed(numbers), _listed(kinds))


def calls_of(
    journal: Path | OpenJournal, numbers: Sequence[int], kinds: Sequence[str]
) -> set[tuple[str, str, str]]:
    """Returns agent, session and id of these records' calls, if of some kinds."""
    return _calls(journal, _OF_KINDS, _listed(numbers), _listed(kinds))


def calls_begun(
    journal: Path | OpenJournal, numbers: Sequence[int], first: int, last: int
) -> set[tuple[str, str, str]]:
    """Returns those of these records' calls that also have a record from `first` to `last`."""
    clause = (
        "seq IN (SELECT value FROM json_each(?))"
        " AND call IN (SELECT call FROM record WHERE seq BETWEEN ? AND ?)"
    )
    return _calls(journal, clause, _listed(numbers), first, last)


def calls_among(
    journal: Path | OpenJournal, kinds: Sequence[str], first: int, last: int
) -> set[tuple[str, str, str]]:
    """Returns agent, session and id of calls with a record of some kinds in a range."""
    clause = "seq BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?))"
    return _calls(journal, clause, first, last, _listed(kinds))


def tail(journal: Path | OpenJournal, count: int) -> list[Record]:
    """Returns the newest `count` records, oldest first."""
    return list(_records(journal, "ORDER BY seq DESC LIMIT ?", count))[::-1]


def of_kind(journal: Path | OpenJournal, kind: str, among: int, count: int) -> Iterator[Record]:
    """Yields the newest `count` records of a kind among the last `among`, newest first."""
    with _opened(journal) as opened:
        clause = (
            "WHERE kind = ? AND seq > (SELECT coalesce(max(seq), 0) FROM record) - ? "
            "ORDER BY seq DESC LIMIT ?"
        )
        for row in rows(opened.path, opened.connection, clause, kind, among, count):
            yield _record(opened, row)[1]


def ends(journal: Path | OpenJournal) -> tuple[int, int]:
    """Returns the numbers of the oldest and the newest record; (1, 0) while there is none."""
    with _opened(journal) as opened:
        try:
            low = opened.connection.execute("SELECT min(seq) FROM record").fetchone()[0]
            high = opened.connection.execute("SELECT max(seq) FROM record").fetchone()[0]
        except sqlite3.Error as error:
            raise JournalError(opened.path, reason(error)) from error
    return (low, high) if isinstance(low, int) and isinstance(high, int) else (1, 0)


def among(
    journal: Path | OpenJournal, kinds: Sequence[str], first: int, last: int
) -> Iterator[Record]:
    """Yields the records of some kinds numbered `first` to `last`, oldest first."""
    clause = "WHERE seq BETWEEN ? AND ? AND kind IN (SELECT value FROM json_each(?)) ORDER BY seq"
    return _records(journal, clause, first, last, _listed(kinds))


def about(
    journal: Path | OpenJournal, calls: Sequence[str], kinds: Sequence[str], first: int, last: int
) -> Iterator[Record]:
    """Yields the records of these calls, and all of some kinds, in a range, oldest first.

    Every row of the range is looked at, though not into its data: about 1 ms for 3,000.

    Args:
        journal: The journal, opened or its path.
        calls: Ids of calls.
        kinds: Kinds of records.
        first: The lowest record number.
        last: The highest record number.
    """
    clause = (
        "WHERE seq BETWEEN ? AND ? AND (call IN (SELECT value FROM json_each(?))"
        " OR kind IN (SELECT value FROM json_each(?))) ORDER BY seq"
    )
    return _records(journal, clause, first, last, _listed(calls), _listed(kinds))


def since(journal: Path | OpenJournal, at_us: int) -> Iterator[Record]:
    """Yields the records made at `at_us` (UTC µs) or later, in the order of their numbers.

    Numbers follow time, so the start is searched for by halves, which an index on each row's time
    would cost a quarter of every write. A clock set back by over an hour may hide records.
    """
    with _opened(journal) as opened:
        first = _first_since(opened, at_us - SLACK_US)
        for row in rows(
            opened.path, opened.connection, "WHERE seq >= ? AND at >= ? ORDER BY seq", first, at_us
        ):
            yield _record(opened, row)[1]


def firsts(journal: Path | OpenJournal, times_us: Sequence[int]) -> list[int]:
    """Returns the number of the first record made at each of these times or later."""
    with _opened(journal) as opened:
        return [_first_since(opened, at_us) for at_us in times_us]


def in_time(
    journal: Path | OpenJournal, first: int, last: int, since_us: int | None, until_us: int | None
) -> tuple[int, int]:
    """Returns the record numbers of `first` to `last` that fall into a span of time.

    As `since` it takes clocks to have been set back by an hour at most.

    Args:
        journal: The journal, opened or its path.
        first: The lowest record number.
        last: The highest record number.
        since_us: The begin in UTC µs, None for no limit.
        until_us: The end, not included.
    """
    if since_us is None and until_us is None:
        return first, last
    with _opened(journal) as opened:
        if since_us is not None:
            first = max(first, _first_since(opened, since_us - SLACK_US))
        if until_us is not None:
            last = min(last, _first_since(opened, until_us + SLACK_US) - 1)
    return first, last


def _opened(journal: Path | OpenJournal) -> AbstractContextManager[OpenJournal]:
    return nullcontext(journal) if isinstance(journal, OpenJournal) else opened_journal(journal)


def _listed(values: Sequence[str] | Sequence[int]) -> str:
    return msgspec.json.encode(values).decode()


def _calls(
    journal: Path | OpenJournal, clause: str, *values: int | str
) -> set[tuple[str, str, str]]:
    select = (
        "SELECT DISTINCT coalesce(agent, ''), coalesce(session, ''), call FROM record"  # noqa: S608
        f" WHERE call <> '' AND {clause}"
    )
    with _opened(journal) as opened:
        try:
            return {
                (str(a), str(s), str(c)) for a, s, c in opened.connection.execute(select, values)
            }
        except sqlite3.Error as error:
            raise JournalError(opened.path, reason(error)) from error


def _records(journal: Path | OpenJournal, clause: str, *values: int | str) -> Iterator[Record]:
    with _opened(journal) as opened:
        for row in rows(opened.path, opened.connection, clause, *values):
            yield _record(opened, row)[1]


def _record(opened: OpenJournal, row: JournalRow) -> tuple[int, Record]:
    """Returns the record of a row with the inputs that it refers to, and the bytes of its data."""
    record = _as_written(row).record()
    size_bytes = len(row.data or b"")
    if opened.as_stored or not has_reference(record.data):
        return size_bytes, record
    read: dict[int, tuple[int, Record]] = {}

    def find(number: int) -> Record | None:
        for holder in rows(opened.path, opened.connection, "WHERE seq = ?", number):
            read[number] = len(holder.data or b""), _as_written(holder).record()
        return read[number][1] if number in read else None

    data = resolved(record, find)
    size_bytes += sum(held_bytes for held_bytes, _ in read.values())
    return size_bytes, msgspec.structs.replace(record, data=data)


def _as_written(row: JournalRow) -> JournalRow:
    """Returns the row; without its data where they were changed: they could be of any shape."""
    if row.data is None or sha256(row.data).hexdigest() == row.digest:
        return row
    return msgspec.structs.replace(row, data=None)


def _first_since(opened: OpenJournal, at_us: int) -> int:
    probe = "SELECT seq, at FROM record WHERE seq >= ? ORDER BY seq LIMIT 1"
    try:
        # One statement for both would go through the whole table.
        low = opened.connection.execute("SELECT coalesce(min(seq), 1) FROM record").fetchone()[0]
        high = opened.connection.execute("SELECT coalesce(max(seq), 0) + 1 FROM record").fetchone()[
            0
        ]
        while low < high:
            middle = (low + high) // 2
            seq, at = _sound(opened.connection.execute(probe, (middle,)).fetchone(), 0, 1)
            if at < at_us:
                low = seq + 1
            else:
                high = middle
    except sqlite3.Error as error:
        raise JournalError(opened.path, reason(error)) from error
    return int(low)


def _sound(row: tuple[Any, ...], seq: int = _SEQ, at: int = _AT) -> tuple[Any, ...]:
    """Returns the same values; raises `sqlite3.Error` where damaged pages lack number or time."""
    if not (isinstance(row[seq], int) and isinstance(row[at], int)):
        raise sqlite3.DatabaseError("it holds a record without a number or time")
    return row


def rows(
    path: Path, connection: sqlite3.Connection, clause: str, *values: int | str
) -> Iterator[JournalRow]:
    """Yields the rows that match a clause, as they stand in the journal: nothing is verified."""
    try:
        for row in connection.execute(f"{_SELECT} {clause}", values):
            yield JournalRow(*_sound(row))
    except sqlite3.Error as error:
        raise JournalError(path, reason(error)) from error
