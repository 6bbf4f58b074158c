"""All records of some kinds, wherever among the others they are."""

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
    journal: Path, kinds: Sequence[str], first: int, last: int, *, most: int | None = None
) -> Iterator[Record]:
    """The records of these kinds from `first` to `last`, oldest first.

    What no index holds is gone through, of it the newest `most` records. Raises `JournalError`.
    """
    if first > last:
        return iter(())
    numbers, upto = _indexed(journal, kinds, first, last)
    rest = max(first, upto + 1, last - most + 1 if most is not None else 0)
    named = (record for _, record in reading.numbered(journal, numbers))
    return chain(named, reading.among(journal, kinds, rest, last))


def _indexed(journal: Path, kinds: Sequence[str], first: int, last: int) -> tuple[list[int], int]:
    """What the index knows of those, oldest first, and up to which record it does."""
    condition = " OR ".join(f'"{token("kind", kind)}"' for kind in kinds)
    try:
        with index_of(journal) as index:
            if index is not None:
                return [*index.numbers(condition, first, last)][::-1], index.upto
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    return [], 0
