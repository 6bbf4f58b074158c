"""Calls of sessions without usage files: those that agents and streams reported, for a ledger.

Live and after the fact the same records make the same calls. Each reports the tokens of a call
(`each`: one call by its `ref`), of the session so far (`total`: what it grew by is a call), or of
the newest call (`newest`: one call for as long as what it read is the same; calls between two
reports are not known). Sources that report the same session are not added: the largest sum counts.
A cost so far is that of the call reported last before it.

Sessions without usage files, counted in the same ledger by what agents reported of them.

As soon as a file holds a call of such a session, the reports about it are left out: they are of the
same usage, and the file has more of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.base.bounded import Recent
from watchgate.core.model.records import Record
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.ledger_entries import Key
from watchgate.core.usage.session_fold import NAME_CHARS
from watchgate.core.usage.session_usage import Meter, Tokens, counts_in, nano, reads, tokens_in
from watchgate.core.usage.usage_calls import PICO_PER_NANO, UsageCall

REPORT_KINDS = ("session.start", "usage")
"""The records that this is about."""
MAX_SESSIONS = 2_000
MAX_CALLS = 20_000
MAX_SOURCES = 8


class ReportedCalls:
    """The reported calls of sessions, record by record in their order."""

    def __init__(self) -> None:
        self._sessions: Recent[Key, _ReportedSession] = Recent(MAX_SESSIONS)

    def __contains__(self, key: Key) -> bool:
        return key in self._sessions

    def take(self, record: Record) -> Key | None:
        """Takes a record in; returns the session whose calls it may have changed."""
        if record.kind not in REPORT_KINDS or record.agent is None or record.session is None:
            return None
        key = record.agent, record.session
        session = self._sessions.get(key)
        if session is None:
            session = self._sessions[key] = _ReportedSession(key[1])
        if record.kind == "usage":
            session.used(record)
            return key
        session.started(record)
        return None

    def calls(self, key: Key) -> list[UsageCall]:
        """Returns all reported calls of a session, the oldest first."""
        session = self._sessions.get(key)
        return session.calls() if session is not None else []


class _ReportedSession:
    """One session: its sources by their names, and its costs in their order."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._model = ""
        self._sources: dict[str, _ReportSource] = {}
        self._meters: dict[str, Meter] = {}
        self._costs: list[UsageCall] = []

    def started(self, record: Record) -> None:
        """Notes that the session began (again): its agent may count from zero."""
        self._model = _text(record.data.get("model")) or self._model
        start_kind = str(record.data.get("detail", "")).partition(" ")[0]
        if record.sub is None and start_kind != "compact":
            self._meters = {name: _restarted(each) for name, each in self._meters.items()}
            for source in self._sources.values():
                source.restarted()

    def used(self, record: Record) -> None:
        """Takes in reported tokens or money of the session."""
        data = record.data
        model = _text(data.get("model")) or self._model
        if record.sub is None:
            self._model = model
        name = _text(data.get("native"))
        tokens, cost = tokens_in(data), nano(data.get("total_cost_usd"))
        known = name in self._sources or len(self._sources) < MAX_SOURCES
        if tokens is not None and known:
            call = UsageCall(
                id="", at_us=record.at, session=self._session, model=model, sub=record.sub or ""
            )
            self._sources.setdefault(name, _ReportSource(name)).add(tokens, call, data)
        if cost is not None and (name in self._meters or len(self._meters) < MAX_SOURCES):
            self._pay(name, cost, record.at, model)

    def _pay(self, name: str, cost: int, at_us: int, model: str) -> None:
        before = max((each.cost or 0 for each in self._meters.values()), default=0)
        self._meters[name] = self._meters.get(name, Meter(source=name)).with_cost(cost)
        more = max(each.cost or 0 for each in self._meters.values()) - before
        if len(self._costs) < MAX_CALLS:
            self._costs.append(
                UsageCall(
                    id=f"{self._session}:cost:{len(self._costs)}",
                    at_us=at_us,
                    session=self._session,
                    model=model,
                    reported=more * PICO_PER_NANO,
                )
            )
        else:
            last = self._costs[-1]
            more = (last.reported or 0) + more * PICO_PER_NANO
            self._costs[-1] = msgspec.structs.replace(last, reported=more)

    def calls(self) -> list[UsageCall]:
        largest = max(self._sources.values(), key=lambda each: each.tokens, default=None)
        calls = list(largest.calls.values()) if largest is not None else []
        return _paid(calls, self._costs) if self._costs else calls


class _ReportSource:
    """The calls that one source reported of a session, and their tokens together."""

    def __init__(self, name: str) -> None:
        self.calls: dict[str, UsageCall] = {}
        self.tokens = 0
        self._name = name
        self._count = 0
        self._newest: dict[str, tuple[str, Tokens]] = {}
        self._meters: dict[str, Meter] = {}

    def restarted(self) -> None:
        """Lets a sum that is lower than the last begin a new count."""
        self._meters = {sub: _restarted(each) for sub, each in self._meters.items()}

    def add(self, tokens: Tokens, call: UsageCall, data: dict[str, Any]) -> None:
        """Takes in tokens of `call`, which says whose they are and when they were reported."""
        counts = counts_in(data)
        if counts == "each":
            ref = _text(data.get("ref"))
            self._put(f"ref:{ref}" if ref else self._name_one(), tokens, call)
        elif counts == "newest":
            known = self._newest.get(call.sub)
            same = known is not None and reads(known[1]) == reads(tokens)
            id = known[0] if known is not None and same else self._name_one()
            self._newest[call.sub] = (id, tokens)
            self._put(id, tokens, msgspec.structs.replace(call, is_lower_bound=True))
        else:
            meter = self._meters.get(call.sub, Meter(source=self._name))
            after = self._meters[call.sub] = meter.with_tokens(tokens, "total", "")
            more = (after.tokens or Tokens()).beyond(meter.tokens or Tokens())
            if more.all:
                self._put(self._name_one(), more, call)

    def _name_one(self) -> str:
        self._count += 1
        return str(self._count)

    def _put(self, id: str, tokens: Tokens, call: UsageCall) -> None:
        known = self.calls.get(id)
        if known is None and len(self.calls) >= MAX_CALLS:
            return
        if known is not None:
            before = Tokens(
                known.input, known.output, known.cache_read, known.cache_5m, known.reasoning
            )
            tokens, call = tokens.maximum(before), known
            self.tokens -= before.all
        self.tokens += tokens.all
        self.calls[id] = msgspec.structs.replace(
            call,
            # Of its session alone: an index that has to tell sessions apart grows slow with them.
            id=f"{call.session}:{self._name}:{id}",
            input=tokens.input,
            output=tokens.output,
            cache_read=tokens.cache_read,
            cache_5m=tokens.cache_write,
            reasoning=tokens.reasoning,
        )


def _paid(calls: list[UsageCall], costs: list[UsageCall]) -> list[UsageCall]:
    """Returns the calls with what they cost; without a call, a cost is one of its own."""
    if not calls:
        return [each for each in costs if each.reported]
    paid = sorted(calls, key=lambda each: each.at_us)
    shares = dict.fromkeys(range(len(paid)), 0)
    place = 0
    for each in costs:
        while place + 1 < len(paid) and paid[place + 1].at_us <= each.at_us:
            place += 1
        shares[place] += each.reported or 0
    return [
        msgspec.structs.replace(call, reported=shares[number]) for number, call in enumerate(paid)
    ]


def _restarted(meter: Meter) -> Meter:
    return msgspec.structs.replace(meter, restarted=True)


def _text(value: Any) -> str:
    return value[:NAME_CHARS] if isinstance(value, str) else ""


_PREFIX = "told:"


def reported_file(key: Key) -> str:
    """Returns the name in a ledger of the reports about a session."""
    return f"{_PREFIX}{key[0]}:{key[1]}"


class ReportedFeed:
    """Feeds reported usage of sessions into a ledger of files; `settle` brings it up to both."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._reported = ReportedCalls()
        self._in_ledger: dict[Key, dict[str, UsageCall]] = {}
        self._touched: dict[Key, None] = {}

    def take(self, record: Record) -> None:
        """Takes a record in, in the order in which they were made; other kinds change nothing."""
        key = self._reported.take(record)
        if key is not None:
            self._touched[key] = None

    def settle(self, changed: Iterable[Key]) -> None:
        """Counts what was reported since; `changed` are sessions whose files may hold more or less.

        The ledger says itself which sessions changed by this.
        """
        due = self._touched | dict.fromkeys(key for key in changed if key in self._reported)
        self._touched = {}
        for key in due:
            if self._has_file(key):
                if self._in_ledger.pop(key, None):
                    self._ledger.forget(reported_file(key))
            else:
                self._put(key)

    def _has_file(self, key: Key) -> bool:
        return any(not call.file.startswith(_PREFIX) for call in self._ledger.calls(key))

    def _put(self, key: Key) -> None:
        before = self._in_ledger.get(key, {})
        now = {call.id: call for call in self._reported.calls(key)}
        new = [call for id, call in now.items() if before.get(id) != call]
        gone = [(id, "", False) for id in before if id not in now]
        if new or gone:
            self._in_ledger[key] = now
            self._ledger.put(reported_file(key), key[0], new, gone=gone)
