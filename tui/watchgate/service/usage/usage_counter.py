"""The slow part of counting usage: reads files, prices calls, adds up sums.

Synchronous, and for one thread at a time; only `note` and `tell` may be called from any.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

import msgspec

from watchgate.agents.usage import UsagePlace
from watchgate.core.model.records import Record
from watchgate.core.model.usage_records import CountedData, Limit
from watchgate.core.usage.ledger import Key, Ledger
from watchgate.core.usage.reported_calls import ReportedFeed
from watchgate.core.usage.session_fold import CWD_CHARS, NAME_CHARS
from watchgate.core.usage.session_usage import MAX_DAYS
from watchgate.core.usage.usage_summary import kind_costs, summarize_session
from watchgate.service.prices.prices import Prices
from watchgate.service.system.local_days import local_day, utc_offset_s
from watchgate.service.usage.file_index import SessionFacts
from watchgate.service.usage.usage_files import UsageFiles

RECORDS_WAITING = 20_000
"""Told records that wait to be counted at most; more than that come only where nothing is read."""
RECORDS_AT_ONCE = 200
PAUSE_S = 0.002
ID_CHARS = 8


class CountedSession(msgspec.Struct, frozen=True, gc=False):
    """A session, and its sums."""

    key: Key
    data: CountedData


class UsageCounter:
    """Adds up the files below `places`, and sources that have no files."""

    def __init__(
        self,
        places: Sequence[UsagePlace],
        prices: Callable[[], Prices],
        *,
        cache: Path | None = None,
    ) -> None:
        self._places = places
        self._make_prices = prices
        self._cache = cache
        self._waiting: deque[Record] = deque(maxlen=RECORDS_WAITING)
        self._notes: deque[tuple[str, str, str]] = deque(maxlen=RECORDS_WAITING)
        self._changed: set[Key] = set()
        self._limits_at: dict[str, int] = {}

    def open(self) -> None:
        """Finds the files and the prices; to be called once, before anything else below."""
        self.prices = self._make_prices()
        self._ledger = Ledger(self.prices.tariff_of, local_day)
        self._reported = ReportedFeed(self._ledger)
        self._book = UsageFiles(self._places, self._ledger, cache=self._cache)

    def note(self, agent: str, session: str, path: str) -> None:
        """Notes the transcript that a hook named for a session."""
        self._notes.append((agent, session, path))

    def tell(self, record: Record) -> None:
        """Takes a record that may report usage."""
        self._waiting.append(record)

    def remember(self, records: Iterable[Record]) -> None:
        """Takes in earlier records; in no hurry, since there can be a month of them."""
        for number, record in enumerate(records, 1):
            self._reported.take(record)
            if number % RECORDS_AT_ONCE == 0:
                time.sleep(PAUSE_S)

    def read(self, limit_bytes: int) -> int:
        """Reads on, so much at most, and takes in records; returns how many bytes are left."""
        while self._notes:
            self._book.note(*self._notes.popleft())
        self._book.look()
        left = self._book.refresh(limit_bytes)
        while self._waiting:
            self._reported.take(self._waiting.popleft())
        changed = self._ledger.changed()
        self._reported.settle(changed)
        self._changed |= changed | self._ledger.changed()
        return left

    def counted(self, now_us: int, *, but: Collection[Key] = ()) -> list[CountedSession]:
        """Returns the last month's sessions that changed since the last call; `but` come later."""
        due = [key for key in self._changed if key not in but]
        self._changed.difference_update(due)
        today = local_day(now_us)
        return [each for key in due if (each := self._of(key, today, now_us)) is not None]

    def renew(self, now_us: int) -> None:
        """Prices everything anew where other prices are in force now."""
        if self.prices.renew(now_us):
            self._ledger.repriced()

    def unreadable_files(self) -> int:
        """Returns the number of files that should hold usage and cannot be read."""
        return self._book.unreadable.files

    def save(self) -> None:
        """Keeps what was read for the next start."""
        self._book.save()

    def _of(self, key: Key, today: int, now_us: int) -> CountedSession | None:
        first_day = today - MAX_DAYS + 1
        rows, calls = self._ledger.rows(key), list(self._ledger.calls(key))
        if rows and max(row.day for row in rows) < first_day:
            return None
        facts = self._book.of(key)
        data = msgspec.structs.replace(
            summarize_session(rows, calls, first_day=first_day, last_day=today, now_us=now_us),
            kinds=kind_costs(calls, self.prices.tariff_of),
            context_used=facts.context_used,
            context_size=facts.context_size,
            limits=self._newest(key[0], facts),
            unreadable=facts.unreadable,
            prices=self.prices.words(),
            utc_offset_s=utc_offset_s(now_us),
            label=facts.cwd.rstrip("/").rpartition("/")[2][:NAME_CHARS] or key[1][:ID_CHARS],
            cwd=facts.cwd[:CWD_CHARS],
        )
        return CountedSession(key, data)

    def _newest(self, agent: str, facts: SessionFacts) -> tuple[Limit, ...]:
        """Returns the limits in this session's files, unless another one had later ones."""
        if not facts.limits or facts.limits_at_us < self._limits_at.get(agent, 0):
            return ()
        self._limits_at[agent] = facts.limits_at_us
        return facts.limits
