"""Orders a recording by what came in: events, answers, clients that left, times that ran out.

Records are written when something is decided. What came in is put back to when it came: a call
whose handlers were dispatched is recorded at their end, with the time at which it was asked.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core import decoding
from watchgate.core.budget import KIND as BUDGET
from watchgate.core.events import Event
from watchgate.core.judging import POLICY
from watchgate.core.records import CallData, DecisionData, Record, RequestData, TraceData
from watchgate.service.replaying.rebuilt import EVENT_KINDS, rebuilt

UNTOLD: Final = ("the allow was never told", "the agent went on before")
"""What `effect.undelivered` says of an allow that was decided and not told."""

NEVER: Final = 2**63
_STEPS: Final = frozenset(
    {
        "approval.decided",
        "approval.extended",
        "effect.sent",
        "effect.undelivered",
        "grant.given",
        "grant.revoked",
        BUDGET,
    }
)


class Came(msgspec.Struct, frozen=True):
    """An event came; `call` is its record, `why_not` the reason that it is not decided again.

    `heard` says that handlers were asked before its call was decided, `until` is when the next
    thing came in (UTC µs): by then it was.
    """

    record: Record
    event: Event
    call: CallData | None
    why_not: str
    dispatched: bool = False
    until: int = NEVER


class Happened(msgspec.Struct, frozen=True):
    """Any other input of a core, or action of it on a request."""

    record: Record


Step = Came | Happened


class Recording:
    """The records of one core's run, by what they are about.

    `steps` come with the moment (UTC µs) of each, which never goes back; `passed` are the requests
    that the agent went on without, by the number of the event that told so.
    """

    def __init__(self, records: Iterable[Record], adapters: Mapping[str, Adapter]) -> None:
        records = [record for record in records if record.data]  # others were purged
        self.asked: dict[str, RequestData] = {}
        self.ended: dict[str, DecisionData] = {}
        self.untold: set[str] = set()
        self.passed: defaultdict[int, list[str]] = defaultdict(list)
        self._first_effects: dict[str, int] = {}
        self._traces: defaultdict[TraceKey, deque[TraceData]] = defaultdict(deque)
        dispatched: set[CallKey] = set()
        newest = 0
        for record in records:
            if record.kind in EVENT_KINDS:
                newest = record.seq
            elif record.data.get("word") == "answered-elsewhere" and record.request is not None:
                self.passed[newest].append(record.request)
            if record.kind == "hook.trace":
                trace = decoding.convert(record.data, TraceData)
                self._traces[_trace_key(record, trace.kind, trace.native)].append(trace)
                if any(row.status == "ran" and row.handler != POLICY for row in trace.rows):
                    dispatched.add(_call_key(record))
            elif record.request is not None:
                self._about(record, record.request)
        self._find_effects(records)
        self.steps = self._ordered(records, dispatched, adapters)

    def trace(self, event: Event) -> TraceData | None:
        """Takes the trace of an event; None without one."""
        key = (event.agent, event.session, event.kind, event.native, event.at.wall_us)
        waiting = self._traces.get(key)
        return waiting.popleft() if waiting else None

    def word(self, request: str | None) -> str | None:
        """Returns the word in which a request ended, as far as was recorded."""
        ended = self.ended.get(request or "")
        return None if ended is None else ended.word

    def was_committed_by(self, request: str | None, upto: int) -> bool:
        """Returns whether the allow of a request was on disk by the record of this number.

        Without a sign of it nothing came of that allow any more.
        """
        first = self._first_effects.get(request or "")
        return first is not None and first <= upto

    def _find_effects(self, records: list[Record]) -> None:
        """Finds the first sign that each allow was on disk, after it was decided."""
        decided: dict[str, str] = {}
        calls: dict[CallKey, str] = {}
        for record in records:
            name = record.request or ""
            if record.kind == "approval.decided":
                decided[name[:4]] = name
                calls[_call_key(record)] = name
                by = str(record.data.get("by", ""))
                if by.startswith("grant #"):
                    self._first_effects.setdefault(decided.get(by[7:11], ""), record.seq)
            elif record.kind == "grant.given":
                self._first_effects.setdefault(str(record.data.get("id")), record.seq)
            elif record.kind.startswith("effect.") or record.data.get("gate") == "carried":
                self._first_effects.setdefault(name, record.seq)
            elif record.kind in ("tool.post", "tool.error"):
                self._first_effects.setdefault(calls.get(_call_key(record), ""), record.seq)

    def _about(self, record: Record, request: str) -> None:
        if record.kind == "approval.requested":
            self.asked[request] = decoding.convert(record.data, RequestData)
        elif record.kind == "approval.decided":
            self.ended[request] = decoding.convert(record.data, DecisionData)
        elif record.kind == "effect.undelivered" and record.data.get("what") in UNTOLD:
            self.untold.add(request)

    def _ordered(
        self,
        records: list[Record],
        dispatched: set[CallKey],
        adapters: Mapping[str, Adapter],
    ) -> list[tuple[int, Step]]:
        moments: list[tuple[int, Step, bool]] = []
        latest = 0
        for record in records:
            step = self._step(record, adapters)
            if step is None:
                continue
            call = step.call if isinstance(step, Came) else None
            # What is only observed is on record at once, whoever is heard about it.
            asked = call is not None and call.gate != "recorded"
            waited = asked and _call_key(record) in dispatched
            # A clock that was set back must not turn the order around.
            moment = record.at if waited else max(record.at, latest)
            latest = max(latest, moment)
            moments.append((moment, step, waited))
        steps: list[tuple[int, Step]] = []
        until = NEVER
        for moment, step, waited in reversed(moments):
            if waited:
                steps.append((moment, msgspec.structs.replace(step, dispatched=True, until=until)))
            else:
                steps.append((moment, step))
                until = moment
        steps.reverse()
        return sorted(steps, key=lambda each: each[0])

    def _step(self, record: Record, adapters: Mapping[str, Adapter]) -> Step | None:
        if record.kind in _STEPS:
            return Happened(record)
        event = rebuilt(record, self.asked.get(record.request or ""), adapters)
        if event is None:
            return None
        call = decoding.convert(record.data, CallData) if "gate" in record.data else None
        return Came(record, event.event, call, event.why_not)


TraceKey = tuple[str | None, str | None, str, str, int]
CallKey = tuple[str | None, str | None, str | None]


def _call_key(record: Record) -> CallKey:
    return record.agent, record.session, record.call


def _trace_key(record: Record, kind: str, native: str) -> TraceKey:
    return record.agent, record.session, kind, native, record.at
