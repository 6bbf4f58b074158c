"""Recorded calls, read backwards a page at a time, and those that changed since a record.

A call belongs to the page that holds its first record; what is missing of it is looked for among
the records near that page. So every call comes out once, and whole.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.call_rows import CallKey
from watchgate.core.filters import Filter
from watchgate.core.history import CALL_KINDS, CORE_KINDS, fold
from watchgate.core.history_filter import keeping
from watchgate.core.history_lean import lean
from watchgate.core.history_row import HistoryRow
from watchgate.core.records import Record
from watchgate.service import journal_read

FIRST_PAGE = 1_000
LARGEST_PAGE = 8_000
LOOKED_AT = 30_000
"""Records that one request looks at, at most; the answer says where to go on."""

LONGEST_S = 0.5
NEAR = 50_000
"""How many records before and after a page a call's other records are looked for."""

CHANGED = 2_000
"""The most records whose calls are told as changes; for more a page has to be asked for anew."""

CALLS_AT_ONCE = 500
SLACK_US = 3_600 * 1_000_000
"""How much older than the call before it a call may seem: clocks are set back now and then."""


class View(msgspec.Struct, frozen=True):
    """What a running core knows: names of sessions, the calls that go on, and who asks."""

    names: dict[tuple[str, str], str] = {}
    alive: frozenset[CallKey] = frozenset()
    me: str = ""


def calls(
    journal: Path,
    wanted: Filter,
    *,
    limit: int,
    before: int | None = None,
    view: View | None = None,
    now_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """The newest calls that a filter takes and that began before a record, newest first.

    `next` is the `before` of the calls after these, None at the end; there may be more even where
    none was found. `looked_at` counts the records gone through, `records` all there are, of which
    `newest` is the last. Raises `JournalError`.
    """
    pages = _Pages(journal, view or View())
    top = pages.newest if before is None else min(before - 1, pages.newest)
    keeps, limit = keeping(wanted), min(max(1, limit), CALLS_AT_ONCE)
    found: list[HistoryRow] = []
    last, size, until_s = top, FIRST_PAGE, now_s() + LONGEST_S
    since_us = (wanted.since_us or 0) - SLACK_US
    while last >= pages.oldest and len(found) < limit and top - last < LOOKED_AT:
        first = max(pages.oldest, last - size + 1)
        rows = pages.began(first, last)
        found += [row for row in reversed(rows) if keeps(row)]
        last, size = first - 1, min(2 * size, LARGEST_PAGE)
        if rows and rows[0].at < since_us:
            last = pages.oldest - 1  # all that comes is older
        elif now_s() >= until_s:
            break
    if len(found) > limit:
        del found[limit:]
        last = found[-1].first - 1
    return {
        "calls": found,
        "next": last + 1 if last >= pages.oldest else None,
        "looked_at": max(0, top - last),
        "records": pages.count,
        "newest": pages.newest,
    }


def changed(
    journal: Path, wanted: Filter, from_seq: int, view: View | None = None
) -> dict[str, Any]:
    """The calls with a record from `from_seq` on: those a filter takes, newest first.

    `gone` are the first records of the others. After more than 2,000 records `reset` says that
    nothing of this was looked at. Raises `JournalError`.
    """
    pages = _Pages(journal, view or View())
    answer = {"records": pages.count, "newest": pages.newest}
    if pages.newest - from_seq >= CHANGED:
        return {"calls": [], "gone": [], "reset": True, **answer}
    keeps = keeping(wanted)
    first = min(max(from_seq, pages.oldest), pages.newest + 1)
    rows = pages.touched(first, pages.newest)[::-1]
    return {
        "calls": [row for row in rows if keeps(row)],
        "gone": [row.first for row in rows if not keeps(row)],
        "reset": False,
        **answer,
    }


class _Pages:
    def __init__(self, journal: Path, view: View) -> None:
        self._journal = journal
        self._view = view
        self.oldest, self.newest = journal_read.ends(journal)

    @property
    def count(self) -> int:
        return max(0, self.newest - self.oldest + 1)

    def began(self, first: int, last: int) -> list[HistoryRow]:
        """The calls whose first record is one of these, oldest first."""
        return [row for row in self._rows(first, last) if first <= row.first <= last]

    def touched(self, first: int, last: int) -> list[HistoryRow]:
        """The calls that have a record among these, oldest first."""
        return [row for row in self._rows(first, last) if first <= row.last]

    def _rows(self, first: int, last: int) -> list[HistoryRow]:
        kinds = (*CALL_KINDS, *CORE_KINDS)
        own = [lean(each) for each in journal_read.among(self._journal, kinds, first, last)]
        named = sorted({record.call for record in own if record.call})
        if not named:
            return []
        before = self._near(named, max(self.oldest, first - NEAR), first - 1)
        after = self._near(named, last + 1, min(self.newest, last + NEAR))
        records = [*chain(before, own, after)]
        view = self._view
        return fold(records, len(records), names=view.names, alive=view.alive, me=view.me)

    def _near(self, named: list[str], first: int, last: int) -> list[Record]:
        if first > last:
            return []
        found = journal_read.about(self._journal, named, CORE_KINDS, first, last)
        return [lean(each) for each in found]
