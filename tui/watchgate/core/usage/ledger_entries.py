"""The ledger's entries for a file, for a session, and for a call that several records hold.

- Descent: the root that each forked thread goes back to.
- Duplicate records: those that hold one and the same call of a model, counted once. Agents write a
  call several times: once per block of the answer, again in a sub-agent's file, and as a copy in a
  session that goes on from another. Two records of one id are the same call if their request is the
  same, if one of them has no request and their session is the same, or if one is a sub-agent's. A
  sub-agent's copy joins no two calls that are different without it. Threads that are forked have no
  requests: there a copy is one of the same thread, or of its parent. Children of one parent may
  count alike without having copied it from one another, so they are told apart unless the parent
  has no file: then what they have in common is taken to be the parent's.
- Running sums of one model on one day, changed by a call at a time.
- The sums of some calls alone, in the rows that a ledger has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from watchgate.core.usage.pricing import QUARTER_US, Tariff
from watchgate.core.usage.usage_calls import CountedCall, Figures, UsageCall


class Descent(NamedTuple):
    """The origin of a thread: its root and its parent, itself and empty if it is no fork.

    `adrift` says that the root has no file of its own, `orphan` that the parent has none.
    """

    thread: str
    root: str
    adrift: bool
    parent: str
    orphan: bool


NO_DESCENT = Descent("", "", False, "", False)


class Roots:
    """The root of each file's thread, correct whatever order the files are read in.

    Copies of a call in threads of one root are the same call. Where a parent has no file, it is the
    root all the same, so that its children count once what they all copied.
    """

    def __init__(self) -> None:
        self._parents: dict[str, dict[str, str]] = {}
        self._thread_of: dict[str, str] = {}
        self._children: dict[str, set[str]] = {}

    def put(self, file: str, thread: str, parent: str) -> set[str]:
        """Takes in a file's thread and parent; returns the files whose root may have changed."""
        if self._thread_of.get(file) == thread and self._parents[thread][file] == parent:
            return set()
        touched = self.drop(file)
        self._thread_of[file] = thread
        self._parents.setdefault(thread, {})[file] = parent
        if parent:
            self._children.setdefault(parent, set()).add(thread)
        return touched | self._below(thread)

    def drop(self, file: str) -> set[str]:
        """Drops a file; returns the others whose root may have changed by it."""
        thread = self._thread_of.pop(file, None)
        if thread is None:
            return set()
        touched = self._below(thread) - {file}
        parents = self._parents[thread]
        parent = parents.pop(file)
        if parent and parent not in parents.values():
            self._children[parent].discard(thread)
        if not parents:
            del self._parents[thread]
        return touched

    def descent(self, file: str) -> Descent:
        """Returns the origin of the file's thread.

        Threads that are each other's parents have the first of them as their root.
        """
        thread = self._thread_of[file]
        root, adrift = self._root(thread)
        parent = self._parent(thread)
        return Descent(thread, root, adrift, parent, bool(parent) and parent not in self._parents)

    def _root(self, thread: str) -> tuple[str, bool]:
        way = {thread: None}
        while parent := self._parent(thread):
            if parent in way:
                passed = list(way)
                return min(passed[passed.index(parent) :]), False
            way[parent] = None
            thread = parent
        return thread, thread not in self._parents

    def _parent(self, thread: str) -> str:
        return max(self._parents.get(thread, {}).values(), default="")

    def _below(self, thread: str) -> set[str]:
        """Returns the files of the thread and of all that go back to it."""
        threads = {thread}
        ahead = [thread]
        while ahead:
            fresh = self._children.get(ahead.pop(), set()) - threads
            threads |= fresh
            ahead += fresh
        return {file for one in threads for file in self._parents.get(one, ())}


class CallRecord(msgspec.Struct, frozen=True, gc=False):
    """One record of a call and the file that holds it; `least`: it may have used more.

    `thread` is what the file was written for, where it can be forked from `parent`; `orphan`: no
    file was written for the parent.
    """

    file: str
    call: UsageCall
    is_lower_bound: bool
    thread: str = ""
    parent: str = ""
    orphan: bool = False


class DedupedCall(msgspec.Struct, frozen=True, gc=False):
    """One call out of its records: the fullest record and the one that it belongs to."""

    call: UsageCall
    owner: UsageCall
    file: str
    is_lower_bound: bool


def same_calls(records: Iterable[CallRecord]) -> list[DedupedCall]:
    """Merges records of one id into the calls that they hold, in whatever order they come."""
    every = list(records)
    own = [record for record in every if not record.call.side]
    if not own:
        return [_merged(every)] if every else []
    return [_merged(group) for group in _grouped(own)]


def _grouped(records: list[CallRecord]) -> Iterator[list[CallRecord]]:
    without = {record.call.session for record in records if not record.call.request}
    threads = {record.thread for record in records}
    leads: dict[str, str] = {}
    for record in records:
        names = _names(record, without, threads)
        leads[_lead(leads, names[0])] = _lead(leads, names[-1])
    groups: dict[str, list[CallRecord]] = {}
    for record in records:
        lead = _lead(leads, _names(record, without, threads)[0])
        groups.setdefault(lead, []).append(record)
    yield from groups.values()


def _names(record: CallRecord, without: set[str], threads: set[str]) -> list[str]:
    """Returns the names that the record shares with others of the same call."""
    call = record.call
    if record.thread:
        names = [f"thread {record.thread}"]
        if record.orphan or record.parent in threads:
            names.append(f"thread {record.parent}")
        return names
    names = [f"request {call.request}"] if call.request else []
    if call.session in without:
        names.append(f"session {call.session}")
    return names


def _lead(leads: dict[str, str], name: str) -> str:
    """Returns the name that stands for all that are joined to this one."""
    while (further := leads.setdefault(name, name)) != name:
        leads[name] = name = leads[further]
    return name


def _merged(records: list[CallRecord]) -> DedupedCall:
    threads = {record.thread for record in records}

    def order(record: CallRecord) -> tuple[int, bool, str, str, str]:
        call = record.call
        forked = record.parent in threads and record.thread != ""
        # A file may be moved, and is then another one; the thread stays.
        return call.at_us, forked, record.thread, record.file, call.request

    def fullest(record: CallRecord) -> tuple[Any, ...]:
        return -record.call.output, not record.call.model, *order(record)

    fullest_record = min(records, key=fullest)
    owner = min(records, key=order)
    is_lower_bound = all(record.is_lower_bound for record in records)
    return DedupedCall(fullest_record.call, owner.call, owner.file, is_lower_bound)


class Sums:
    """The running sums of one row of the ledger."""

    __slots__ = (
        "cache_1h",
        "cache_5m",
        "cache_read",
        "calls",
        "computed",
        "input",
        "lower_bounds",
        "output",
        "reasoning",
        "reported",
        "unpriced",
        "unreported",
        "web_searches",
    )

    def __init__(self) -> None:
        self.calls = self.input = self.output = 0
        self.cache_read = self.cache_5m = self.cache_1h = 0
        self.reasoning = self.web_searches = 0
        self.reported = self.unreported = self.computed = self.unpriced = self.lower_bounds = 0

    def add(self, counted: CountedCall) -> None:
        """Counts a call."""
        # The hottest lines of the ledger: what most calls lack is not added as 0.
        call = counted.call
        self.calls += 1
        self.input += call.input
        self.output += call.output
        self.cache_read += call.cache_read
        if call.cache_5m:
            self.cache_5m += call.cache_5m
        if call.cache_1h:
            self.cache_1h += call.cache_1h
        if call.reasoning:
            self.reasoning += call.reasoning
        if call.web_searches:
            self.web_searches += call.web_searches
        if call.reported is None:
            self.unreported += 1
        else:
            self.reported += call.reported
        if counted.computed is None:
            self.unpriced += 1
        else:
            self.computed += counted.computed
        if counted.is_lower_bound:
            self.lower_bounds += 1

    def take_back(self, counted: CountedCall) -> None:
        """Takes a call out of the sums."""
        call = counted.call
        self.calls -= 1
        self.input -= call.input
        self.output -= call.output
        self.cache_read -= call.cache_read
        self.cache_5m -= call.cache_5m
        self.cache_1h -= call.cache_1h
        self.reasoning -= call.reasoning
        self.web_searches -= call.web_searches
        self.reported -= call.reported or 0
        self.unreported -= call.reported is None
        self.computed -= counted.computed or 0
        self.unpriced -= counted.computed is None
        self.lower_bounds -= counted.is_lower_bound

    def figures(self) -> Figures:
        """Returns the sums as they are now."""
        return Figures(**{name: getattr(self, name) for name in self.__slots__})


class LedgerRow(msgspec.Struct, frozen=True, gc=False):
    """The usage of one model on one local day for one session or one of its sub-agents."""

    agent: str
    session: str
    sub: str
    day: int
    model: str
    figures: Figures


def rows_of(calls: Iterable[CountedCall]) -> list[LedgerRow]:
    """Adds calls up, in the order of `Ledger.rows`."""
    sums: dict[tuple[str, str, str, int, str], Sums] = {}
    for counted in calls:
        row = counted.agent, counted.session, counted.sub, counted.day, counted.call.model
        sums.setdefault(row, Sums()).add(counted)
    return [LedgerRow(*row, sums[row].figures()) for row in sorted(sums)]


Key = tuple[str, str]
"""An agent and a session of it."""


class DuplicateRecords:
    """A call that several records hold: these by file, request and side, and the counted calls."""

    __slots__ = ("counted", "records")

    def __init__(self) -> None:
        self.records: dict[tuple[str, str, bool], CallRecord] = {}
        self.counted: list[CountedCall] = []

    def put(self, record: CallRecord) -> None:
        """Takes a record in, in the place of the one with the same names."""
        call = record.call
        self.records[record.file, call.request, call.side] = record

    def drop(self, file: str) -> None:
        """Drops the records of a file."""
        self.records = {key: record for key, record in self.records.items() if key[0] != file}

    def calls_in(self, file: str) -> list[UsageCall]:
        """Returns the records of one file."""
        return [record.call for record in self.records.values() if record.file == file]


CallIndex = dict[str, CountedCall | DuplicateRecords]
"""The known calls of one agent, or of one family of its threads, by id."""


class LedgerFile:
    """A file: whose it is, the ids of the calls that it holds, and the sessions they are in."""

    __slots__ = ("agent", "descent", "ids", "index", "name", "parent", "sessions", "thread")

    def __init__(self, name: str, agent: str, index: CallIndex) -> None:
        self.name = name
        self.agent = agent
        self.index = index
        self.thread = self.parent = ""
        self.descent = NO_DESCENT
        self.ids: dict[str, None] = {}
        self.sessions: set[Key] = set()


class SessionSums:
    """The sums of a session by sub-agent, day and model, and the files that hold its calls."""

    __slots__ = ("files", "sums")

    def __init__(self) -> None:
        self.sums: dict[tuple[str, int, str], Sums] = {}
        self.files: set[LedgerFile] = set()


class SumBucket:
    """The sums and the tariff that a run of similar calls shares: each is looked up once."""

    __slots__ = (
        "context",
        "day",
        "model",
        "provider",
        "quarter",
        "session",
        "sub",
        "sums",
        "tariff",
    )

    def __init__(self, call: UsageCall, day: int, tariff: Tariff | None, sums: Sums) -> None:
        self.session = call.session
        self.sub = call.sub
        self.model = call.model
        self.provider = call.provider
        self.context = call.context
        self.quarter = call.at_us // QUARTER_US
        self.day = day
        self.tariff = tariff
        self.sums = sums

    def accepts(self, call: UsageCall) -> bool:
        """Returns whether the call is counted and priced here."""
        return (
            call.session == self.session
            and call.model == self.model
            and call.at_us // QUARTER_US == self.quarter
            and call.sub == self.sub
            and call.context == self.context
            and call.provider == self.provider
        )
