"""The ledger: every call of a model counted once, whatever files hold it, and exact sums of them.

Theory of operation

Unit. A `UsageCall` is one request to a model as one file records it. Agents write the same call
several times: once per block of the answer, in a sub-agent's file, and as a copy in a session or
thread that was resumed or forked. A call counts as long as any file holds a record of it. Whatever
is counted comes in by `Ledger.put` under the name of its file and goes out by `Ledger.forget`;
sessions without usage files come in under a name of their own, with what agents reported of them.

Once. An index for each agent, and for each family of its forked threads (`Roots`), leads from a
call's id to a `CountedCall`, if one record holds it, or to its `DuplicateRecords`. A second record
of an id turns the one into the other: what was counted is taken back, and before `put` returns
`_settle` has `same_calls` say which of the records are the same call, and counts those. So the sums
are the same in whatever order files, and the parts of a file, come in.

Sums. Each session has `Sums` by sub-agent, local day and model, changed by one call at a time;
reading `rows` adds nothing up. A call is priced as it is counted, by the tariff of its time;
another price table counts every call anew (`repriced`). Calls in a row that are alike share a
`SumBucket`, so that day, tariff and sums are looked up once for them: most time is spent there.

This file alone changes the indexes and the sums; duplicates, forks, prices and sums know nothing of
one another. A reader asks `changed` for the sessions to report again.

Never: a reported and a computed cost in one sum (they are of the same calls); a call in sums that
its index entry does not name, or still in them while its records wait for `_settle`; a change of
sums without its session in `changed`; money in anything but whole pico-dollars, which are rounded
once, for the record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from watchgate.core.usage.ledger_entries import (
    NO_DESCENT,
    CallIndex,
    CallRecord,
    DedupedCall,
    DuplicateRecords,
    Key,
    LedgerFile,
    LedgerRow,
    Roots,
    SessionSums,
    SumBucket,
    Sums,
    same_calls,
)
from watchgate.core.usage.pricing import TariffOf, computed_cost, may_cost_more
from watchgate.core.usage.usage_calls import CountedCall, UsageCall

__all__ = ["Key", "Ledger", "RecordKey"]

RecordKey = tuple[str, str, bool]
"""The name of a record within one file: its id, its request and whether it is a sub-agent's."""


class Ledger:
    """The sums over the calls of all files, whatever order files and their parts come in.

    `tariff_of` and `day_of` (UTC µs to the local day since 1970) are asked once for calls in a row
    that are alike and within the same quarter of an hour (`pricing.QUARTER_US`).
    """

    def __init__(self, tariff_of: TariffOf, day_of: Callable[[int], int]) -> None:
        self._tariff_of = tariff_of
        self._day_of = day_of
        self._files: dict[str, LedgerFile] = {}
        self._roots: dict[str, Roots] = {}
        self._indexes: dict[tuple[str, str], CallIndex] = {}
        self._sessions: dict[Key, SessionSums] = {}
        self._changed: set[Key] = set()
        self._shared: dict[LedgerFile, dict[Key, list[CountedCall]]] = {}
        self._unsettled: dict[tuple[str, str, str], DuplicateRecords] = {}

    def put(
        self,
        file: str,
        agent: str,
        calls: Iterable[UsageCall],
        *,
        thread: str = "",
        parent: str = "",
        gone: Iterable[RecordKey] = (),
    ) -> None:
        """Takes in calls that a file holds, anew or for the first time.

        Args:
            file: The name of the file.
            agent: The agent whose file it is.
            calls: The calls; one with the id, request and side of an earlier one of that file takes
                its place.
            thread: The thread that the file was written for, where ids are unique only within a
                family of threads.
            parent: The thread that `thread` was forked from.
            gone: The records that the file holds no longer.
        """
        source = self._files.get(file)
        if source is None:
            source = self._files[file] = LedgerFile(file, agent, self._index(agent, ""))
        if (source.thread, source.parent) != (thread, parent):
            self._rooted(source, thread, parent)
        for call_id, request, side in gone:
            self._drop(source, call_id, request, side)
        self._take(source, calls)
        self._settle()

    def forget(self, file: str) -> None:
        """Drops everything that a file held."""
        source = self._files.get(file)
        if source is None:
            return
        self._empty(source)
        self._rooted(source, "", "")
        del self._files[file]
        self._settle()

    def changed(self) -> set[Key]:
        """Returns the sessions whose figures may have changed since this was last asked."""
        changed, self._changed = self._changed, set()
        return changed

    def rows(self, key: Key | None = None) -> list[LedgerRow]:
        """Returns the sums of one session or of all, in a fixed order."""
        return [
            LedgerRow(agent, session, sub, day, model, sums.figures())
            for agent, session in (sorted(self._sessions) if key is None else (key,))
            if (agent, session) in self._sessions
            for (sub, day, model), sums in sorted(self._sessions[agent, session].sums.items())
            if sums.calls
        ]

    def calls(self, key: Key | None = None) -> Iterator[CountedCall]:
        """Yields each call of one session or of all once, in no order."""
        if key is None:
            for source in self._files.values():
                yield from _owned(source)
        elif (entry := self._sessions.get(key)) is not None:
            for source in entry.files:
                yield from self._of(source, key)

    def _of(self, source: LedgerFile, key: Key) -> Iterable[CountedCall]:
        """Returns the calls of a session in a file; many sessions of a file are grouped once."""
        if len(source.sessions) == 1:
            return (counted for counted in _owned(source) if counted.key == key)
        groups = self._shared.get(source)
        if groups is None:
            groups = self._shared[source] = {}
            for counted in _owned(source):
                groups.setdefault(counted.key, []).append(counted)
        return groups.get(key, ())

    def repriced(self) -> None:
        """Prices every call anew."""
        calls_by_file = [(source, self._calls_in(source)) for source in self._files.values()]
        for index in self._indexes.values():
            index.clear()
        self._sessions.clear()
        for source, calls in calls_by_file:
            source.ids.clear()
            source.sessions.clear()
            self._take(source, calls)
        self._settle()

    def _index(self, agent: str, root: str) -> CallIndex:
        return self._indexes.setdefault((agent, root), {})

    def _rooted(self, source: LedgerFile, thread: str, parent: str) -> None:
        """Takes over a file's thread and parent, and moves the files whose root changes by it."""
        source.thread, source.parent = thread, parent
        roots = self._roots.setdefault(source.agent, Roots())
        touched = roots.put(source.name, thread, parent) if thread else roots.drop(source.name)
        for name in touched | {source.name}:
            moved = self._files[name]
            descent = roots.descent(name) if moved.thread else NO_DESCENT
            if descent == moved.descent:
                continue
            calls = self._calls_in(moved)
            self._empty(moved)
            moved.descent = descent
            moved.index = self._index(moved.agent, descent.root)
            self._take(moved, calls)

    def _calls_in(self, source: LedgerFile) -> list[UsageCall]:
        calls = []
        for call_id in source.ids:
            known = source.index[call_id]
            calls += (
                known.calls_in(source.name) if isinstance(known, DuplicateRecords) else [known.call]
            )
        return calls

    def _empty(self, source: LedgerFile) -> None:
        for call_id in source.ids:
            known = source.index[call_id]
            if isinstance(known, CountedCall):
                self._sums_of(known).take_back(known)
                del source.index[call_id]
            else:
                self._copies(source, call_id).drop(source.name)
        source.ids.clear()
        for key in source.sessions:
            self._sessions[key].files.discard(source)
        source.sessions.clear()

    def _take(self, source: LedgerFile, calls: Iterable[UsageCall]) -> None:
        """Counts calls; nearly all of them stand in one record: this is what has to be fast."""
        agent, file, adrift = source.agent, source.name, source.descent.adrift
        index, ids = source.index, source.ids
        spot: SumBucket | None = None
        for call in calls:
            if call.id in index and not self._gives_way(source, call):
                continue
            if spot is None or not spot.accepts(call):
                spot = self._spot(source, call)
            tariff = spot.tariff
            is_lower_bound = (
                adrift
                or call.is_lower_bound
                or ((call.writes_in_input or call.web_searches > 0) and may_cost_more(call, tariff))
            )
            computed = computed_cost(call, tariff)
            counted = CountedCall(agent, call, call, file, spot.day, computed, is_lower_bound)
            index[call.id] = counted
            ids[call.id] = None
            spot.sums.add(counted)

    def _spot(self, source: LedgerFile, call: UsageCall) -> SumBucket:
        day = self._day_of(call.at_us)
        sums = self._sums(source, call.session, (call.sub, day, call.model))
        return SumBucket(call, day, self._tariff_of(call), sums)

    def _sums(self, source: LedgerFile, session: str, row: tuple[str, int, str]) -> Sums:
        """Returns the sums that a call of the file changes."""
        key = source.agent, session
        entry = self._sessions.get(key)
        if entry is None:
            entry = self._sessions[key] = SessionSums()
        self._changed.add(key)
        self._shared.clear()
        entry.files.add(source)
        source.sessions.add(key)
        return entry.sums.setdefault(row, Sums())

    def _gives_way(self, source: LedgerFile, call: UsageCall) -> bool:
        """Returns whether the id was known only from this same record of the file, as it was."""
        known = source.index[call.id]
        if isinstance(known, CountedCall):
            before = known.file, known.call.request, known.call.side
            if before == (source.name, call.request, call.side):
                self._sums_of(known).take_back(known)
                return True
        source.ids[call.id] = None
        self._copies(source, call.id).put(self._record(source, call))
        return False

    def _copies(self, source: LedgerFile, call_id: str) -> DuplicateRecords:
        """Returns the records of a call, which is counted again by `_settle`."""
        known = source.index[call_id]
        for counted in _counted(known):
            self._sums_of(counted).take_back(counted)
        if isinstance(known, CountedCall):
            copies = source.index[call_id] = DuplicateRecords()
            copies.put(self._record(self._files[known.file], known.call))
        else:
            copies = known
            copies.counted = []
        self._unsettled[source.agent, source.descent.root, call_id] = copies
        return copies

    def _drop(self, source: LedgerFile, call_id: str, request: str, side: bool) -> None:
        if call_id not in source.ids:
            return
        copies = self._copies(source, call_id)
        copies.records.pop((source.name, request, side), None)
        if not copies.calls_in(source.name):
            del source.ids[call_id]

    def _settle(self) -> None:
        """Counts the calls whose records have changed."""
        for (agent, root, call_id), copies in self._unsettled.items():
            index = self._indexes[agent, root]
            merged = [self._merged(agent, same) for same in same_calls(copies.records.values())]
            copies.counted = merged
            if not merged:
                del index[call_id]
            elif len(copies.records) == 1:
                index[call_id] = merged[0]
            for counted in merged:
                self._sums_of(counted).add(counted)
        self._unsettled.clear()

    def _merged(self, agent: str, same: DedupedCall) -> CountedCall:
        tariff = self._tariff_of(same.call)
        return CountedCall(
            agent=agent,
            call=same.call,
            owner=same.owner,
            file=same.file,
            day=self._day_of(same.owner.at_us),
            computed=computed_cost(same.call, tariff),
            is_lower_bound=same.is_lower_bound or may_cost_more(same.call, tariff),
        )

    def _sums_of(self, counted: CountedCall) -> Sums:
        owner = counted.owner
        row = (owner.sub, counted.day, counted.call.model)
        return self._sums(self._files[counted.file], owner.session, row)

    def _record(self, source: LedgerFile, call: UsageCall) -> CallRecord:
        thread, _, adrift, parent, orphan = source.descent
        return CallRecord(source.name, call, adrift or call.is_lower_bound, thread, parent, orphan)


def _owned(source: LedgerFile) -> Iterator[CountedCall]:
    """Yields the calls counted for a file: each belongs to its owner's file, not to its copies'."""
    for call_id in source.ids:
        for counted in _counted(source.index[call_id]):
            if counted.file == source.name:
                yield counted


def _counted(known: CountedCall | DuplicateRecords) -> Iterable[CountedCall]:
    return known.counted if isinstance(known, DuplicateRecords) else (known,)
