"""All records of some kinds, by the index and where that ends by the journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

from watchgate.core.records import Record
from watchgate.service.journal import reading
from watchgate.service.search.facets import token
from watchgate.service.search.finding import discard_if_damaged, index_of


def of_kinds(
    journal: Path, kinds: Sequence[str], first: int, last: int, *, limit: int | None = None
) -> Iterator[Record]:
    """Yields the records of these kinds from `first` to `last`, oldest first.

    Raises `JournalError`.

    Args:
        journal: The journal's database.
        kinds: The kinds of records.
        first: The lowest record number.
        last: The highest record number.
        limit: So many of the newest records are read where no index holds them; None for all.
    """
    if first > last:
        return iter(())
    numbers, upto = _indexed(journal, kinds, first, last)
    rest = max(first, upto + 1, last - limit + 1 if limit is not None else 0)
    named = (record for _, record in reading.numbered(journal, numbers))
    return chain(named, reading.among(journal, kinds, rest, last))


def _indexed(journal: Path, kinds: Sequence[str], first: int, last: int) -> tuple[list[int], int]:
    """Returns the indexed ones, oldest first, and the last record that the index holds."""
    condition = " OR ".join(f'"{token("kind", kind)}"' for kind in kinds)
    try:
        with index_of(journal) as index:
            if index is not None:
                return [*index.numbers(condition, first, last)][::-1], index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    return [], 0
