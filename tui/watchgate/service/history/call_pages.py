"""Recorded calls, read backwards a page at a time, and those that changed since a record.

A call belongs to the page that holds its first record; what is missing of it is looked for among
the records near that page. So every call comes out once, and whole.

- Recorded calls by the index: only those that may match are read and folded.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.filters.filter_fields import history_test
from watchgate.core.filters.filter_parser import Filter
from watchgate.core.history.call_history import CALL_KINDS, CORE_KINDS, fold_history
from watchgate.core.history.history_row import HistoryRow, lean
from watchgate.core.model.records import Record
from watchgate.core.state.call_rows import CallKey, call_key
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_reader import OpenJournal
from watchgate.service.search.index_query import JournalIndex, discard_if_damaged, index_of
from watchgate.service.search.index_terms import OF_CALL, call_conditions, index_token

NEAR = 50_000
"""Records before and after one of a call's among which its others are looked for."""

MAX_LAG = 5_000
"""Records that are not indexed yet, of which all calls are looked at; with more all is read."""

_ASKED_AT_ONCE = 100
_OF_ONE_CALL = 4
"""So many records of each call may be found before fewer calls are taken for a step."""

_TELLING = ("approval.", "effect.", "tool.pre", "tool.permission", "question")
_LATE = " OR ".join(f'"{index_token("kind", family)}"*' for family in _TELLING)
"""Records by which a call is found after its first one; its result alone says too little."""

_CORE = " OR ".join(f'"{index_token("kind", kind)}"' for kind in CORE_KINDS)


class Candidates:
    """The calls that meet a condition and began by `top`, from the newest record down.

    Raises `sqlite3.Error` and `JournalError`.

    Args:
        journal: The opened journal.
        index: Its index.
        condition: The condition, for `MATCH`.
        oldest: The journal's first record.
        top: The record by which calls began.
        newest: The journal's last record.
    """

    def __init__(
        self,
        journal: OpenJournal,
        index: JournalIndex,
        condition: str,
        *,
        oldest: int,
        top: int,
        newest: int,
    ) -> None:
        self._journal = journal
        self._index = index
        self._condition = condition
        self._oldest = oldest
        self._newest = newest
        self._below = index.numbers(self._condition, oldest, min(top, index.upto))
        self._above = (top, min(top + NEAR, newest))

    def first(self) -> list[Record]:
        """Returns the records of calls that may have begun by `top` and matched after it."""
        top, end = self._above
        upto = self._index.upto
        late = f"({self._condition}) AND {OF_CALL} AND ({_LATE})"
        late_numbers = [*self._index.numbers(late, top + 1, min(end, upto))]
        begun = max(self._oldest, top - NEAR), top
        calls = (
            journal_reader.calls_begun(self._journal, late_numbers, *begun)
            if late_numbers
            else set()
        )
        kinds = (*CALL_KINDS, *CORE_KINDS)
        # What is not indexed may meet the condition: all of it is a candidate.
        if upto < end:
            calls |= journal_reader.calls_among(self._journal, kinds, upto + 1, end)
        return self._records(calls, top, top)

    def next(self, count: int) -> tuple[list[Record], int]:
        """Returns the records of about so many calls, and the lowest record number they cover."""
        calls: set[CallKey] = set()
        high = low = 0
        for _ in range(_OF_ONE_CALL):
            if len(calls) >= count:
                break
            numbers = list(islice(self._below, count))
            if not numbers:
                return self._records(calls, low, high), self._oldest
            # Asking the index itself for records of calls costs ten times the rest of the question.
            calls |= journal_reader.calls_of(self._journal, numbers, CALL_KINDS)
            high, low = high or numbers[0], numbers[-1]
        return self._records(calls, low, high), low

    def _records(self, calls: set[CallKey], low: int, high: int) -> list[Record]:
        """Returns all nearby records of these calls."""
        if not calls:
            return []
        first, last = max(self._oldest, low - NEAR), min(self._newest, high + NEAR)
        ids = sorted({call for _, _, call in calls})
        upto = self._index.upto
        numbers = {*self._index.numbers(_CORE, first, min(last, upto))}
        for some in _parts(ids):
            either = " OR ".join(f'"{index_token("call", id)}"' for id in some)
            numbers.update(self._index.numbers(either, first, min(last, upto)))
        kinds = (*CALL_KINDS, *CORE_KINDS)
        records = list(journal_reader.of_kinds(self._journal, sorted(numbers), kinds))
        if last > upto:
            records += journal_reader.about(
                self._journal, ids, CORE_KINDS, max(first, upto + 1), last
            )
        return [lean(each) for each in records if not each.call or call_key(each) in calls]


def _parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[at : at + _ASKED_AT_ONCE] for at in range(0, len(ids), _ASKED_AT_ONCE))


FIRST_PAGE = 1_000
LARGEST_PAGE = 8_000
LOOKED_AT = 30_000
"""Records that one request goes through at most; the answer says where to go on."""

FIRST_CANDIDATES = 50
MAX_CANDIDATES = 1_000
"""Calls that one step reads, where the index names them."""

LONGEST_S = 0.5
CHANGED = 2_000
"""Records whose calls are sent as changes, at most; for more a page has to be asked for anew."""

CALLS_AT_ONCE = 500

Window = tuple[list[HistoryRow], int]
"""The calls that may be wanted down to a record, newest first, and the number of that record."""


class CoreView(msgspec.Struct, frozen=True):
    """The running core's knowledge: names of sessions, calls that go on, and the user's name."""

    names: dict[tuple[str, str], str] = {}
    alive: frozenset[CallKey] = frozenset()
    me: str = ""


def calls(
    journal: Path,
    wanted: Filter,
    *,
    limit: int,
    before: int | None = None,
    view: CoreView | None = None,
    now_s: Callable[[], float] = time.monotonic,
) -> dict[str, Any]:
    """Returns the newest calls that match a filter and began before a record, newest first.

    `next` is the `before` of the calls after these, None at the end; there may be more even where
    this page is empty. `looked_at` counts the records gone through, `records` all there are, of
    which `newest` is the last. Raises `JournalError`.

    Args:
        journal: The journal's database.
        wanted: The filter.
        limit: Calls to return at most.
        before: The number of the record before which calls began; None for the newest.
        view: The running core's knowledge, if there is one.
        now_s: A monotonic clock, in seconds.
    """
    with journal_reader.opened_journal(journal) as held:
        return _calls(held, wanted, limit, before, view or CoreView(), now_s)


def _calls(
    journal: OpenJournal,
    wanted: Filter,
    limit: int,
    before: int | None,
    view: CoreView,
    now_s: Callable[[], float],
) -> dict[str, Any]:
    """Answers from the index where it can, else by going through the journal.

    Args:
        journal: The opened journal.
        wanted: The filter.
        limit: Calls to return at most.
        before: The record number before which calls began.
        view: The running core's knowledge.
        now_s: A monotonic clock, in seconds.
    """
    pages = _Pages(journal, view)
    top = pages.newest if before is None else min(before - 1, pages.newest)
    span = journal_reader.in_time(journal, pages.oldest, top, wanted.since_us, wanted.until_us)
    ask = _PageRequest(wanted, min(max(1, limit), CALLS_AT_ONCE), top, *span)
    try:
        with index_of(journal.path, journal.connection) as index:
            windows = pages.named(ask, index) if index is not None else None
            return _answer(pages, ask, windows or pages.gone_through(ask), now_s)
    except sqlite3.Error as error:
        discard_if_damaged(journal.path, error)
    return _answer(pages, ask, pages.gone_through(ask), now_s)


class _PageRequest(msgspec.Struct, frozen=True):
    """A question: calls that began by `top`, and by their time from `oldest` to `last`."""

    wanted: Filter
    limit: int
    top: int
    oldest: int
    last: int


def _answer(
    pages: _Pages, ask: _PageRequest, windows: Iterable[Window], now_s: Callable[[], float]
) -> dict[str, Any]:
    keeps, until_s = history_test(ask.wanted), now_s() + LONGEST_S
    rows_taken: list[HistoryRow] = []
    last, end = min(ask.top, ask.last), pages.oldest - 1
    if ask.oldest > ask.last:
        windows, last = (), end
    for rows, first in windows:
        rows_taken += filter(keeps, rows)
        last = first - 1 if first > ask.oldest else end
        if len(rows_taken) >= ask.limit or now_s() >= until_s:
            break
    if len(rows_taken) > ask.limit:
        del rows_taken[ask.limit :]
        last = rows_taken[-1].first - 1
    return {
        "calls": rows_taken,
        "next": last + 1 if last >= pages.oldest else None,
        "looked_at": max(0, ask.top - last),
        "records": pages.count,
        "newest": pages.newest,
    }


def changed(
    journal: Path, wanted: Filter, from_seq: int, view: CoreView | None = None
) -> dict[str, Any]:
    """Returns the calls with a record from `from_seq` on: those that match a filter, newest first.

    `gone` are the first records of the others. After more than 2,000 records `reset` says that
    nothing of this was looked at. Raises `JournalError`.
    """
    with journal_reader.opened_journal(journal) as held:
        return _changed(_Pages(held, view or CoreView()), wanted, from_seq)


def _changed(pages: _Pages, wanted: Filter, from_seq: int) -> dict[str, Any]:
    answer = {"records": pages.count, "newest": pages.newest}
    if pages.newest - from_seq >= CHANGED:
        return {"calls": [], "gone": [], "reset": True, **answer}
    keeps = history_test(wanted)
    first = min(max(from_seq, pages.oldest), pages.newest + 1)
    rows = pages.touched(first, pages.newest)[::-1]
    return {
        "calls": [row for row in rows if keeps(row)],
        "gone": [row.first for row in rows if not keeps(row)],
        "reset": False,
        **answer,
    }


class _Pages:
    def __init__(self, journal: OpenJournal, view: CoreView) -> None:
        self._journal = journal
        self._view = view
        self.oldest, self.newest = journal_reader.ends(journal)

    @property
    def count(self) -> int:
        return max(0, self.newest - self.oldest + 1)

    def gone_through(self, ask: _PageRequest) -> Iterator[Window]:
        """Yields all calls, a page of records at a time, as far as one request may look."""
        last, size = ask.last, FIRST_PAGE
        while last >= ask.oldest and ask.last - last < LOOKED_AT:
            first = max(ask.oldest, last - size + 1)
            rows = self._rows(first, last)
            yield [row for row in reversed(rows) if first <= row.first <= last], first
            last, size = first - 1, min(2 * size, LARGEST_PAGE)

    def named(self, ask: _PageRequest, index: JournalIndex) -> Iterator[Window] | None:
        """Returns only the calls that the index names; None where it cannot say."""
        conditions = call_conditions(ask.wanted, self._view.names)
        if not conditions or self.newest - index.upto > MAX_LAG:
            return None
        condition = index.rarest(conditions, ask.oldest, ask.last)
        span = {"oldest": self.oldest, "top": ask.last, "newest": self.newest}
        return self._of_candidates(ask, Candidates(self._journal, index, condition, **span))

    def _of_candidates(self, ask: _PageRequest, candidates: Candidates) -> Iterator[Window]:
        last, size = ask.last, max(FIRST_CANDIDATES, ask.limit)
        waiting = self._folded(candidates.first())
        while last >= ask.oldest:
            records, lowest = candidates.next(size)
            first = max(ask.oldest, lowest)
            # A call may be found by a record of it that is newer than others' first ones.
            waiting |= self._folded(records)
            due = [row for row in waiting.values() if first <= row.first <= last]
            yield sorted(due, key=lambda row: -row.first), first
            waiting = {each: row for each, row in waiting.items() if each < first}
            last, size = first - 1, min(2 * size, MAX_CANDIDATES)

    def _folded(self, records: list[Record]) -> dict[int, HistoryRow]:
        """Returns the calls of these records by their first record's number."""
        records.sort(key=lambda record: record.seq)
        view = self._view
        rows = fold_history(records, len(records), names=view.names, alive=view.alive, me=view.me)
        return {row.first: row for row in rows}

    def touched(self, first: int, last: int) -> list[HistoryRow]:
        """Returns the calls that have a record among these, oldest first."""
        return [row for row in self._rows(first, last) if first <= row.last]

    def _rows(self, first: int, last: int) -> list[HistoryRow]:
        kinds = (*CALL_KINDS, *CORE_KINDS)
        own = [lean(each) for each in journal_reader.among(self._journal, kinds, first, last)]
        named = sorted({record.call for record in own if record.call})
        if not named:
            return []
        before = self._near(named, max(self.oldest, first - NEAR), first - 1)
        after = self._near(named, last + 1, min(self.newest, last + NEAR))
        return list(self._folded([*chain(before, own, after)]).values())

    def _near(self, named: list[str], first: int, last: int) -> list[Record]:
        if first > last:
            return []
        records = journal_reader.about(self._journal, named, CORE_KINDS, first, last)
        return [lean(each) for each in records]
