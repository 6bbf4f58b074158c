"""Recorded history, read beside a running core: pages of records, and a search over them.

Whoever may ask may be an agent's process: no answer is longer, and no search takes more time at
once, than the core can spare.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from watchgate.core.filters import Filter
from watchgate.core.record_fields import RECORD_FIELDS
from watchgate.core.records import Record
from watchgate.service import journal_read
from watchgate.service.journal_schema import LAST_SEQ

PAGE = 2_000
SEARCHED = 200_000
LONGEST_S = 0.5
ANSWER_BYTES = 2 << 20
"""After so many bytes of data an answer ends: it is written in one piece, by the core's loop."""


def between(journal: Path, first: int, last: int) -> list[Record]:
    """The records from `first` to `last`, at most a page of them; the first one always."""
    # SQLite takes no numbers of over 64 bits, and no record has one.
    first = max(first, 1)
    if first > min(last, LAST_SEQ):
        return []
    found: list[Record] = []
    size = 0
    for held, record in journal_read.sized(journal, first, min(last, first + PAGE - 1)):
        size += held
        if found and size > ANSWER_BYTES:
            break
        found.append(record)
    return found


def search(
    journal: Path,
    wanted: Filter,
    limit: int,
    first: int | None = None,
    last: int | None = None,
    *,
    now_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """The newest `records` that a filter takes, newest first, of those from `first` to `last`.

    A page of them at most, from at most 200,000 records; `next` is the `last` to go on with, None
    at the end, and there may be more even where none was found. Raises `JournalError`.
    """
    oldest, newest = journal_read.ends(journal)
    last = newest if last is None else min(last, newest)
    lowest = max(oldest, first or 1)
    if lowest > last:
        return {"records": [], "next": None}
    floor = max(lowest, last - SEARCHED + 1)
    keeps = wanted.over(RECORD_FIELDS) or (lambda _record: True)
    since_us = (wanted.since_us or 0) - journal_read.SLACK_US
    found: list[Record] = []
    size, until_s, limit = 0, now_s() + LONGEST_S, min(max(1, limit), PAGE)
    for held, record in journal_read.sized(journal, floor, last, newest_first=True):
        if record.at < since_us:
            floor = lowest  # all that comes is older
            break
        if keeps(record):
            size += held
            if found and size > ANSWER_BYTES:
                floor = record.seq + 1
                break
            found.append(record)
        if len(found) >= limit or now_s() >= until_s:
            floor = record.seq
            break
    return {"records": found, "next": floor - 1 if floor > lowest else None}
