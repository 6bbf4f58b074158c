"""Recorded calls by the index: only those that may match are read and folded."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from watchgate.core.call_rows import CallKey, call_key
from watchgate.core.history import CALL_KINDS, CORE_KINDS
from watchgate.core.history_lean import lean
from watchgate.core.records import Record
from watchgate.service.journal import reading
from watchgate.service.journal.reading import Held
from watchgate.service.search.facets import OF_CALL, token
from watchgate.service.search.finding import Index

NEAR = 50_000
"""Records before and after one of a call's among which its others are looked for."""

LAG_MOST = 5_000
"""Records that are not indexed yet, of which all calls are looked at; with more all is read."""

_ASKED_AT_ONCE = 100
_OF_ONE_CALL = 4
"""So many records of each call may be found before fewer calls are taken for a step."""

_TELLING = ("approval.", "effect.", "tool.pre", "tool.permission", "question")
_LATE = " OR ".join(f'"{token("kind", family)}"*' for family in _TELLING)
"""Records by which a call is found after its first one; its result alone says too little."""

_CORE = " OR ".join(f'"{token("kind", kind)}"' for kind in CORE_KINDS)


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
        self, journal: Held, index: Index, condition: str, *, oldest: int, top: int, newest: int
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
        calls = reading.calls_begun(self._journal, late_numbers, *begun) if late_numbers else set()
        kinds = (*CALL_KINDS, *CORE_KINDS)
        # What is not indexed may meet the condition: all of it is a candidate.
        if upto < end:
            calls |= reading.calls_among(self._journal, kinds, upto + 1, end)
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
            calls |= reading.calls_of(self._journal, numbers, CALL_KINDS)
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
            either = " OR ".join(f'"{token("call", id)}"' for id in some)
            numbers.update(self._index.numbers(either, first, min(last, upto)))
        kinds = (*CALL_KINDS, *CORE_KINDS)
        records = list(reading.of_kinds(self._journal, sorted(numbers), kinds))
        if last > upto:
            records += reading.about(self._journal, ids, CORE_KINDS, max(first, upto + 1), last)
        return [lean(each) for each in records if not each.call or call_key(each) in calls]


def _parts(ids: list[str]) -> Iterator[list[str]]:
    return (ids[at : at + _ASKED_AT_ONCE] for at in range(0, len(ids), _ASKED_AT_ONCE))
