"""Recorded history, read beside a running core: pages of records, and a search over them.

Whoever may ask may be an agent's process: no answer is longer, and no search takes more time at
once, than the core can spare.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.filters.filter_fields import RECORD_FIELDS
from watchgate.core.filters.filter_parser import Filter
from watchgate.core.model.records import Record
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import LAST_SEQ
from watchgate.service.search.index_query import JournalIndex, discard_if_damaged, index_of
from watchgate.service.search.index_terms import record_condition

PAGE = 2_000
SEARCHED = 200_000
"""Records that are gone through one by one at most, where the index has no answer."""

LONGEST_S = 0.5
ANSWER_BYTES = 2 << 20
"""After so many bytes of data an answer ends: it is written in one piece, by the core's loop."""

READ_AT_ONCE = 64


def between(journal: Path, first: int, last: int) -> list[Record]:
    """Returns the records from `first` to `last`, at most a page of them; the first one always."""
    # SQLite takes no numbers of over 64 bits, and no record has one.
    first = max(first, 1)
    if first > min(last, LAST_SEQ):
        return []
    records: list[Record] = []
    size = 0
    for held, record in journal_reader.sized(journal, first, min(last, first + PAGE - 1)):
        size += held
        if records and size > ANSWER_BYTES:
            break
        records.append(record)
    return records


def search(
    journal: Path,
    wanted: Filter,
    limit: int,
    first: int | None = None,
    last: int | None = None,
    *,
    now_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Returns the newest `records` that match a filter, newest first, from `first` to `last`.

    A page of them at most. For what the index has no answer at most 200,000 records are read;
    `next` is the `last` to go on with, None at the end, and there may be more even where this page
    is empty. Raises `JournalError`.

    Args:
        journal: The journal's database.
        wanted: The filter.
        limit: Records to return at most.
        first: The lowest record number, None for the oldest.
        last: The highest record number, None for the newest.
        now_s: A monotonic clock, in seconds.
    """
    oldest, newest = journal_reader.ends(journal)
    last = newest if last is None else min(last, newest)
    lowest = max(oldest, first or 1)
    span = journal_reader.in_time(journal, lowest, last, wanted.since_us, wanted.until_us)
    if span[0] > span[1]:
        return {"records": [], "next": None}
    limit = min(max(1, limit), PAGE)
    try:
        with index_of(journal) as index:
            return _page(_candidates(journal, wanted, span, index), wanted, limit, now_s)
    except sqlite3.Error as error:
        discard_if_damaged(journal, error)
    return _page(_candidates(journal, wanted, span, None), wanted, limit, now_s)


class _RecordCandidates(msgspec.Struct, frozen=True):
    """Records with the bytes of their data, newest first; `floor` is the lowest number among them.

    `lowest` is the lowest that was wanted.
    """

    records: Iterator[tuple[int, Record]]
    floor: int
    lowest: int


def _candidates(
    journal: Path, wanted: Filter, span: tuple[int, int], index: JournalIndex | None
) -> _RecordCandidates:
    """Returns all records of a span that may match: the index names them, the rest is read."""
    lowest, last = span
    condition = record_condition(wanted) if index is not None else ""
    known = min(index.upto, last) if index is not None and condition else 0
    floor = max(lowest, known + 1, last - SEARCHED + 1)
    gone_through = journal_reader.sized(journal, floor, last, newest_first=True)
    if index is None or known < lowest or floor > known + 1:
        return _RecordCandidates(gone_through, floor, lowest)
    read = (
        journal_reader.numbered(journal, numbers, newest_first=True)
        for numbers in index.pages(condition, lowest, known, READ_AT_ONCE)
    )
    return _RecordCandidates(chain(gone_through, chain.from_iterable(read)), lowest, lowest)


def _page(
    sought: _RecordCandidates, wanted: Filter, limit: int, now_s: Callable[[], float]
) -> dict[str, Any]:
    """Returns the answer: matching records until the limit, the bytes or the time are used up."""
    keeps = wanted.over(RECORD_FIELDS) or (lambda _record: True)
    records: list[Record] = []
    size, until_s, floor = 0, now_s() + LONGEST_S, sought.floor
    for held, record in sought.records:
        if keeps(record):
            size += held
            if records and size > ANSWER_BYTES:
                floor = record.seq + 1
                break
            records.append(record)
        if len(records) >= limit or now_s() >= until_s:
            floor = record.seq
            break
    return {"records": records, "next": floor - 1 if floor > sought.lowest else None}
