"""Asking a core for its past: one question at a time, and an old answer never counts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Unpack

import msgspec

from watchgate.core import decoding
from watchgate.core.filter_terms import Filter, Term
from watchgate.core.filters import FilterError, parse
from watchgate.core.history_row import HistoryRow
from watchgate.core.records import Record
from watchgate.core.text import safe_text
from watchgate.link.client import Fields
from watchgate.link.lines import Answer, CoreLost, LinkError
from watchgate.link.protocol import Refusal, Verb
from watchgate.ui.past.calls import Page, Past
from watchgate.ui.source import Call

PAGE = 200
RELAXED = 50
TERMS = 4
TIMELINES = 64
STEPS = 200
AROUND = 100
"""How many records after a call's last one may still be about it: the hooks that were asked."""

Span = tuple[int, int]


async def nobody(verb: Verb, **_fields: Unpack[Fields]) -> Answer:
    """Nobody who could be asked."""
    raise CoreLost(f"nobody to ask for {verb}")


class _Records(msgspec.Struct, frozen=True):
    records: tuple[Record, ...] = ()
    next: int | None = None


class Seeker:
    """Fills a `Past` by `call`; `busy` while a question is open. `changed` hears of each answer."""

    def __init__(self, call: Call, past: Past, changed: Callable[[], None]) -> None:
        self._call = call
        self._past = past
        self._changed = changed
        self._timelines: OrderedDict[Span, tuple[Record, ...]] = OrderedDict()
        self.busy = False
        self.wanted = 0

    async def seek(self) -> None:
        """Ask until so many calls are there as are `wanted`, or no more can come."""
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
        """Ask for what changed since the newest record that was looked at."""
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
        """Fetch timelines anew: another core may tell more of them."""
        self._timelines.clear()

    def timeline(self, row: HistoryRow) -> tuple[Record, ...] | None:
        """The records of a call, as far as they were fetched."""
        return self._timelines.get((row.first, row.last))

    async def fetch(self, row: HistoryRow) -> None:
        """Fetch the records of a call; where that fails the call is told without them."""
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
        """Ask what each condition of a filter that nothing passes keeps back."""
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
