"""Queries of the index: the records that meet a condition, and all records of some kinds."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from itertools import chain, islice
from pathlib import Path

from watchgate.core.model.records import Record
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import open_to_read
from watchgate.service.search.index_file import (
    SEGMENT_ROWS,
    IndexedSession,
    belongs_to,
    newest_indexed,
    opened_to_read,
    remove_index,
    segments,
)
from watchgate.service.search.index_terms import index_token

COUNTED = 200
_DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
_SESSIONS = "SELECT agent, session, folder, first_seq, last_seq, first_at, last_at FROM session"


class JournalIndex:
    """An index that belongs to its journal: it holds all records up to `upto`."""

    def __init__(self, connection: sqlite3.Connection, upto: int) -> None:
        self._connection = connection
        self._segments = segments(connection)
        self.upto = upto

    def numbers(self, condition: str, first: int, last: int) -> Iterator[int]:
        """Yields the records numbered `first` to `last` that meet a condition, the newest first.

        Raises `sqlite3.Error`.
        """
        for segment in self._segments if first <= last else ():
            start = segment * SEGMENT_ROWS
            if start > last or start + SEGMENT_ROWS <= first:
                continue
            rows = self._connection.execute(
                f"SELECT rowid FROM words_{segment} WHERE words_{segment} MATCH ?"  # noqa: S608
                " AND rowid BETWEEN ? AND ? ORDER BY rowid DESC",
                (condition, first, last),
            )
            yield from (number for (number,) in rows)

    def pages(self, condition: str, first: int, last: int, size: int) -> Iterator[list[int]]:
        """Yields the same, so many at a time."""
        numbers = self.numbers(condition, first, last)
        while page := list(islice(numbers, size)):
            yield page

    def sessions(self) -> list[IndexedSession]:
        """Returns every session in the index; raises `sqlite3.Error`."""
        return [IndexedSession(*row) for row in self._connection.execute(_SESSIONS)]

    def rarest(self, conditions: list[str], first: int, last: int) -> str:
        """Returns the condition that the fewest records meet, as far as a short look shows."""
        if len(conditions) == 1:
            return conditions[0]
        return min(conditions, key=lambda each: self._spread(each, first, last))

    def _spread(self, condition: str, first: int, last: int) -> tuple[int, int]:
        """Returns the number of matches, 200 at most, and the lowest number among 200."""
        numbers = list(islice(self.numbers(condition, first, last), COUNTED))
        return len(numbers), numbers[-1] if len(numbers) == COUNTED else 0


@contextmanager
def index_of(
    journal: Path, records: sqlite3.Connection | None = None
) -> Iterator[JournalIndex | None]:
    """Yields the index of a journal; None where there is none that belongs to it.

    With `records`, a connection to the journal, it is not opened once more for that.
    """
    with opened_to_read(journal) as connection:
        yield _trusted(journal, connection, records) if connection is not None else None


def discard_if_damaged(journal: Path, error: sqlite3.Error) -> None:
    """Removes an index that could not be read, unless it is only busy."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGE:
        with suppress(OSError):
            remove_index(journal)


def _trusted(
    journal: Path, connection: sqlite3.Connection, held: sqlite3.Connection | None
) -> JournalIndex | None:
    with nullcontext(held) if held else closing(open_to_read(journal)) as records:
        try:
            to = newest_indexed(connection)
            return JournalIndex(connection, to.seq) if belongs_to(records, to) else None
        except sqlite3.Error:
            return None


def records_of_kinds(
    journal: Path, kinds: Sequence[str], first: int, last: int, *, limit: int | None = None
) -> Iterator[Record]:
    """Yields the records of these kinds from `first` to `last`, oldest first.

    By the index, and where that ends by the journal; raises `JournalError`.

    Args:
        journal: The journal's database.
        kinds: The kinds of records.
        first: The lowest record number.
        last: The highest record number.
        limit: So many of the newest records are read where no index holds them; None for all.
    """
    if first > last:
        return iter(())
    numbers, upto = _indexed_numbers(journal, kinds, first, last)
    rest = max(first, upto + 1, last - limit + 1 if limit is not None else 0)
    named = (record for _, record in journal_reader.numbered(journal, numbers))
    return chain(named, journal_reader.among(journal, kinds, rest, last))


def _indexed_numbers(
    journal: Path, kinds: Sequence[str], first: int, last: int
) -> tuple[list[int], int]:
    """Returns the indexed ones, oldest first, and the last record that the index holds."""
    condition = " OR ".join(f'"{index_token("kind", kind)}"' for kind in kinds)
    try:
        with index_of(journal) as index:
            if index is not None:
                return [*index.numbers(condition, first, last)][::-1], index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    return [], 0
