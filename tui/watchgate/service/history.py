"""Recorded history, read beside a running core: pages of records, and a search over them."""

from __future__ import annotations

from pathlib import Path

from watchgate.core.filters import Filter
from watchgate.core.record_fields import fields
from watchgate.core.records import Record
from watchgate.service import journal_read
from watchgate.service.journal_schema import LAST_SEQ

PAGE = 2_000
SEARCHED = 200_000


def between(journal: Path, first: int, last: int) -> list[Record]:
    """The records from `first` to `last`, at most a page of them."""
    # SQLite takes no numbers of over 64 bits, and no record has one.
    first = max(first, 1)
    if first > min(last, LAST_SEQ):
        return []
    return list(journal_read.read(journal, first, min(last, first + PAGE - 1)))


def search(journal: Path, wanted: Filter, limit: int) -> list[Record]:
    """The newest records that a filter takes, newest first; the last 200,000 are looked at."""
    found: list[Record] = []
    newest = journal_read.tail(journal, 1)
    last = newest[0].seq if newest else 0
    floor = max(0, last - SEARCHED)
    while last > floor and len(found) < limit:
        page = between(journal, max(1, last - PAGE + 1), last)
        found += [record for record in reversed(page) if wanted.matches(fields(record))]
        last -= PAGE
    return found[:limit]
