"""Recorded calls that a console holds: pages of the journal, and the calls since.

The core is asked one question at a time, and the answer to an old question never counts.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Unpack

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.text import safe_text
from watchgate.core.filters.filter_parser import Filter, FilterError, Term, parse
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost, LinkError
from watchgate.link.protocol import Refusal, Verb
from watchgate.ui.source.record_source import CoreCall

CALLS_MAX = 5_000
"""Calls that are held at most; for older ones the filter has to say more."""


class Page(msgspec.Struct, frozen=True, kw_only=True):
    """The core's answer to a search for calls, newest first; numbers are those of records.

    `next` asks for those before these, `looked_at` of all `records` were gone through, `newest` is
    the last. In an answer about changes `gone` are calls that a filter does not take, and `reset`
    says that there were too many. `host` is the machine, where there are several.
    """

    calls: tuple[HistoryRow, ...] = ()
    next: int | None = None
    looked_at: int = 0
    records: int = 0
    newest: int = 0
    gone: tuple[int, ...] = ()
    reset: bool = False
    host: str = ""


class Past:
    """The recorded calls read so far, newest first, and the cursor: on a call, not on a line.

    `version` grows with every change, `listed` with those of the calls alone; `asked` is the
    filter's number, so that an answer to an older question is known as one. `begun` says that this
    filter has had an answer.
    """

    def __init__(self) -> None:
        self.filter = self.sent = ""
        self.rows: list[HistoryRow] = []
        self.next: int | None = None
        self.looked_at = 0
        self.records = 0
        self.newest = 0
        self.asked = 0
        self.version = 0
        self.listed = 0
        self.begun = False
        self.fault = ""
        self.host = ""
        self.relaxed: tuple[tuple[str, int, bool], ...] = ()
        """Calls that each condition of the filter keeps back: without it so many pass, or more."""
        self._cursor: int | None = None
        self._index = 0
        self._lost: int | None = None

    @property
    def selected(self) -> HistoryRow | None:
        """The call under the cursor."""
        return self.rows[self._index] if self.rows else None

    @property
    def index(self) -> int:
        """The place of that call."""
        return self._index

    @property
    def full(self) -> bool:
        """Returns whether no older calls are held."""
        return len(self.rows) >= CALLS_MAX

    @property
    def more(self) -> bool:
        """Returns whether older calls can be asked for."""
        return not self.begun or (self.next is not None and not self.full)

    @property
    def seeking(self) -> bool:
        """Returns whether the call that had the cursor may yet come with an older page."""
        return self._lost is not None and self.more and self._lost < (self.next or 0)

    def ask(self, text: str, sent: str | None = None) -> None:
        """Begins anew with a filter; the calls before are shown until there is an answer.

        The core is asked in the words `sent`, in which times do not depend on when they are read.
        With the same filter the cursor stays with its call, however many pages down that is.
        """
        if text != self.filter:
            self._lost = None
        elif self._lost is None:
            self._lost = self._cursor
        self.filter = text
        self.sent = text if sent is None else sent
        self.asked += 1
        self.begun = False
        self.fault = ""
        self.version += 1

    def take(self, page: Page) -> None:
        """Takes a page: the first of this filter, or the one after those that are held."""
        if not self.begun:
            self.rows, self.looked_at, self.newest, self.relaxed = [], 0, page.newest, ()
        self.begun, self.fault = True, ""
        known = {row.first for row in self.rows}
        self.rows += [row for row in page.calls if row.first not in known]
        self.next, self.records, self.host = page.next, page.records, page.host
        self.looked_at += page.looked_at
        self._placed()

    def change(self, page: Page) -> None:
        """Takes changes: new calls, and the new state of those that are held."""
        if page.reset:
            self.ask(self.filter, self.sent)
            return
        oldest = self.next or 0  # what began before that comes with its own page
        changed = [row for row in page.calls if row.first >= oldest]
        out = {row.first for row in changed} | set(page.gone)
        remaining = [row for row in self.rows if row.first not in out]
        self.rows = sorted((*changed, *remaining), key=lambda row: -row.first)
        self.looked_at += max(0, page.records - self.records)
        self.records, self.newest, self.fault = page.records, page.newest, ""
        if len(self.rows) > CALLS_MAX:
            del self.rows[CALLS_MAX:]
            self.next = self.rows[-1].first
        self._placed()

    def refuse(self, why: str) -> None:
        """Notes that there was no answer; the calls that are held stay."""
        self.fault = why
        self.version += 1

    def relax(self, misfits: tuple[tuple[str, int, bool], ...]) -> None:
        """Takes the counts of calls that pass without one condition each."""
        self.relaxed = misfits
        self.version += 1

    def move(self, by: int) -> bool:
        """Moves the cursor by so many calls; returns whether it moved."""
        return bool(self.rows) and self.put(min(max(0, self._index + by), len(self.rows) - 1))

    def put(self, index: int) -> bool:
        """Puts the cursor on a call by its place."""
        if not 0 <= index < len(self.rows):
            return False
        moved, self._index = index != self._index, index
        self._cursor, self._lost = self.rows[index].first, None
        self.version += 1
        return moved

    def _placed(self) -> None:
        """The cursor stays with its call; without it, with the nearest place."""
        firsts = {row.first: number for number, row in enumerate(self.rows)}
        last = max(0, len(self.rows) - 1)
        if self._lost in firsts:
            self._cursor = self._lost
        if not self.seeking:
            self._lost = None
        self._index = firsts.get(self._cursor or 0, min(self._index, last))
        self._cursor = self.rows[self._index].first if self.rows else None
        self.listed += 1
        self.version += 1


PAGE = 200
RELAXED = 50
TERMS = 4
TIMELINES = 64
STEPS = 200
AROUND = 100
"""Records after a call's last one that may still be about it: the hooks that were asked."""

Span = tuple[int, int]


async def nobody(verb: Verb, **_fields: Unpack[RequestFields]) -> ControlAnswer:
    """Refuses every question: there is no core to ask."""
    raise CoreLost(f"nobody to ask for {verb}")


class _Records(msgspec.Struct, frozen=True):
    records: tuple[Record, ...] = ()
    next: int | None = None


class Seeker:
    """Fills a `Past` by `call`; `busy` while a question is open. `changed` hears of each answer."""

    def __init__(self, call: CoreCall, past: Past, changed: Callable[[], None]) -> None:
        self._call = call
        self._past = past
        self._changed = changed
        self._timelines: OrderedDict[Span, tuple[Record, ...]] = OrderedDict()
        self.busy = False
        self.wanted = 0

    async def seek(self) -> None:
        """Asks until so many calls are there as are `wanted`, or no more can come."""
        if self.busy:
            return
        self.busy = True
        try:
            past = self._past
            while past.more and (not past.begun or past.seeking or len(past.rows) < self.wanted):
                if not await self._page():
                    return
                self._changed()
            if past.begun and not past.rows and past.filter and not past.relaxed:
                await self._relax()
        finally:
            self.busy = False
            self._past.version += 1

    async def news(self) -> None:
        """Asks for what changed since the newest record that was looked at."""
        past = self._past
        if self.busy or not past.begun:
            return
        self.busy = True
        try:
            asked = past.asked
            page = await self._search(past.sent, from_seq=past.newest + 1)
            if page is not None and asked == past.asked:
                past.change(page)
        finally:
            self.busy = False

    def forget(self) -> None:
        """Forgets the timelines: another core may know more of them."""
        self._timelines.clear()

    def timeline(self, row: HistoryRow) -> tuple[Record, ...] | None:
        """The records of a call, as far as they were fetched."""
        return self._timelines.get((row.first, row.last))

    async def fetch(self, row: HistoryRow) -> None:
        """Fetches the records of a call; where that fails the call is shown without them."""
        terms = (Term("agent", row.agent), Term("session", row.session), Term("call", row.call))
        records: list[Record] = []
        last: int | None = row.last + AROUND
        try:
            while last is not None and last >= row.first and len(records) < STEPS:
                answer = await self._call(
                    "search",
                    what="records",
                    filter=str(Filter(terms)),
                    from_seq=row.first,
                    to_seq=last,
                    limit=STEPS - len(records),
                )
                if isinstance(answer, Refusal):
                    break
                part = decoding.convert(answer.ok, _Records, from_attributes=True)
                records += part.records
                last = part.next if part.next is not None and part.next < last else None
        except (LinkError, msgspec.ValidationError):
            pass  # told with what came; asking on and on would help nobody
        mine = (r for r in records if (r.call, r.session) == (row.call, row.session))
        self._timelines[row.first, row.last] = tuple(sorted(mine, key=lambda r: r.seq))
        while len(self._timelines) > TIMELINES:
            self._timelines.popitem(last=False)
        self._past.version += 1

    async def _page(self) -> bool:
        past, asked = self._past, self._past.asked
        before = past.next if past.begun else None
        page = await self._search(past.sent, before=before)
        if asked != past.asked:
            return True  # the answer to a question that nobody asks any more
        if page is None:
            return False
        past.take(page)
        return True

    async def _relax(self) -> None:
        """Asks what each condition of a filter keeps back, where no call passes all of them."""
        past, asked = self._past, self._past.asked
        try:
            typed = parse(past.filter, now_us=0).terms
            terms = parse(past.sent, now_us=0).terms
        except FilterError:
            return
        records = []
        for name, term in list(zip(typed, terms, strict=True))[:TERMS] if len(terms) > 1 else ():
            others = str(Filter(tuple(each for each in terms if each is not term)))
            page = await self._search(others, limit=RELAXED)
            if page is None or asked != past.asked:
                return
            if page.calls:
                records.append((str(name), len(page.calls), page.next is not None))
        past.relax(tuple(records))

    async def _search(
        self,
        text: str,
        *,
        before: int | None = None,
        from_seq: int | None = None,
        limit: int = PAGE,
    ) -> Page | None:
        asked = self._past.asked
        try:
            answer = await self._call(
                "search", what="calls", filter=text, before=before, from_seq=from_seq, limit=limit
            )
            if not isinstance(answer, Refusal):
                return decoding.convert(answer.ok, Page, from_attributes=True)
            why = safe_text(answer.message)
        except LinkError as lost:
            why = safe_text(str(lost))
        except msgspec.ValidationError as fault:
            why = f"its answer cannot be read ({safe_text(str(fault))})"
        if asked == self._past.asked:
            self._past.refuse(why)
        return None
