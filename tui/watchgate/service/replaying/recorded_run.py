"""Orders a recording by what came in: events, answers, clients that left, times that ran out.

Records are written when something is decided. What came in is put back to when it came: a call
whose handlers were dispatched is recorded at their end, with the time at which it was asked.

- Rebuilds the event that a record was made of. Where the journal kept what the agent sent, that is
  decoded once more; else the recorded call is taken as it was decoded then.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from typing import Any, Final, cast, get_args

import msgspec

from watchgate.agents.base import Adapter, DecodeError
from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.dispatch.verdict_rules import POLICY
from watchgate.core.model.events import (
    Body,
    Event,
    Kind,
    Lane,
    Question,
    Sub,
    Terms,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolResult,
)
from watchgate.core.model.records import (
    CallData,
    DecisionData,
    NoteData,
    Record,
    RequestData,
    ResultData,
    TraceData,
)
from watchgate.core.tools.tool_input import input_hash
from watchgate.core.usage.budget import KIND as BUDGET
from watchgate.service.hub.hook_frames import HookFrame, decode_frame
from watchgate.service.wire.framing import FrameHead

EVENT_KINDS: Final = frozenset(get_args(Kind))
CONTENT_MISSING: Final = "its content was not kept"
_ENDS: Final = ("tool.post", "tool.error")
_COVERED: Final = re.compile(r"<[a-z-]+, \d+ chars>")
"""The mark that stands for a secret in the journal."""


class RebuiltEvent(msgspec.Struct, frozen=True):
    """An event, and why nothing about it can be decided again; empty where it can."""

    event: Event
    why_not: str = ""


def rebuild_event(
    record: Record, asked: RequestData | None, adapters: Mapping[str, Adapter]
) -> RebuiltEvent | None:
    """Rebuilds the event of a record; `asked` is its request, if any. None without an event."""
    if record.kind not in EVENT_KINDS:
        return None
    try:
        if "gate" in record.data:
            return _call(record, decoding.convert(record.data, CallData), asked, adapters)
        if record.kind in _ENDS:
            missing = CONTENT_MISSING if "input_bytes" in record.data["tool"] else ""
            return RebuiltEvent(_result(record, decoding.convert(record.data, ResultData)), missing)
        if record.kind == "usage":
            return None  # tokens and money decide nothing
        return RebuiltEvent(_note(record, decoding.convert(record.data, NoteData)))
    except (msgspec.ValidationError, ValueError):
        return None


def _call(
    record: Record, call: CallData, asked: RequestData | None, adapters: Mapping[str, Adapter]
) -> RebuiltEvent:
    terms = call.terms or Terms()
    if call.raw and not _COVERED.search(call.raw):
        try:
            return RebuiltEvent(_decoded(record, call, terms, adapters))
        except DecodeError as fault:
            recorded = _recorded(record, call, call.tool, terms, asked)
            return RebuiltEvent(recorded, f"what the agent sent is not read any more: {fault}")
    tool = call.tool
    if asked is not None and _was_rewritten(call, asked):
        made = input_hash(asked.before or {}, tool.cls)
        tool = msgspec.structs.replace(tool, input=asked.before or {}, input_hash=made)
    return RebuiltEvent(_recorded(record, call, tool, terms, asked), _not_whole(record, tool))


def _was_rewritten(call: CallData, asked: RequestData) -> bool:
    """Returns whether a handler made the recorded call of another; an operator edits later."""
    same = call.tool.input_hash == asked.tool.input_hash
    return asked.before is not None and not asked.edited_from and same


def _decoded(
    record: Record, call: CallData, terms: Terms, adapters: Mapping[str, Adapter]
) -> Event:
    payload = call.raw.encode()
    head = FrameHead(
        agent=record.agent or "",
        lane=Lane(call.lane),
        length=len(payload),
        native=call.native,
        deadline_s=terms.deadline_s,
        env=terms.env,
    )
    return decode_frame(HookFrame(head, payload, 0, _at(record)), adapters)


def _recorded(
    record: Record, call: CallData, tool: Tool, terms: Terms, asked: RequestData | None
) -> Event:
    """Builds the event of a call from its record alone.

    Args:
        record: The record.
        call: The record's data.
        tool: The tool call as the agent sent it.
        terms: The terms of the agent's hook.
        asked: The request about the call, if any.
    """
    questions: tuple[Question, ...] = () if asked is None else asked.questions
    return _event(
        record,
        call,
        ToolCall(tool, questions),
        lane=Lane(call.lane),
        autonomous=call.autonomous,
        can=terms.can,
        turn=terms.turn,
        deadline_s=terms.deadline_s,
        numbering=terms.numbering,
        runs_unasked=terms.runs_unasked,
        races_dialog=terms.races_dialog,
        asks_every_call=terms.asks_every_call,
        own_rules=terms.own_rules,
    )


def _not_whole(record: Record, tool: Tool) -> str:
    if "input_bytes" in record.data["tool"] or "before_bytes" in record.data:
        return CONTENT_MISSING
    if input_hash(tool.input, tool.cls) != tool.input_hash:
        return "a secret in it was covered"
    return ""


def _result(record: Record, data: ResultData) -> Event:
    body = ToolResult(
        data.tool,
        ok=data.ok,
        text=data.result,
        took_ms=data.took_ms,
        interrupted=data.interrupted,
        exit_code=data.exit_code,
    )
    return _event(record, data, body, lane=Lane.OBSERVE, numbering=data.numbering)


def _note(record: Record, data: NoteData) -> Event:
    # Of words that were not kept only their number is known; that there were some matters.
    text = data.text or "?" * int(record.data.get("text_chars", 0))
    body: Body
    if record.kind == "tool.batch":
        body = ToolBatch(data.tools)
    elif record.kind == "tool.permission.resolved" and data.tools:
        body = ToolCall(data.tools[0], allowed=bool(text))
    else:
        body = Text(text)
    return _event(record, data, body, lane=Lane.OBSERVE, numbering=data.numbering)


def _event(
    record: Record, data: CallData | ResultData | NoteData, body: Body, **more: Any
) -> Event:
    return Event(
        kind=cast("Kind", record.kind),
        native=data.native,
        agent=record.agent or "",
        session=record.session or "",
        at=_at(record),
        body=body,
        sub=Sub(record.sub) if record.sub else None,
        cwd=getattr(data, "cwd", ""),
        mode=getattr(data, "mode", None),
        **more,
    )


def _at(record: Record) -> Instant:
    return Instant(record.at, 0.0)


LOST_ALLOWS: Final = ("the allow was never told", "the agent went on before")
"""Words of `effect.undelivered` about an allow that was decided and not told."""

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


class ArrivedEvent(msgspec.Struct, frozen=True):
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


class OtherInput(msgspec.Struct, frozen=True):
    """Any other input of a core, or action of it on a request."""

    record: Record


Step = ArrivedEvent | OtherInput


class RecordedRun:
    """The records of one core's run, by what they are about.

    `steps` come with the moment (UTC µs) of each, which never goes back; `passed` are the requests
    that the agent went on without, by the number of the event that told so.
    """

    def __init__(self, records: Iterable[Record], adapters: Mapping[str, Adapter]) -> None:
        records = [record for record in records if record.data]  # others were purged
        self.asked: dict[str, RequestData] = {}
        self.ended: dict[str, DecisionData] = {}
        self.undelivered: set[str] = set()
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
        elif record.kind == "effect.undelivered" and record.data.get("what") in LOST_ALLOWS:
            self.undelivered.add(request)

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
            call = step.call if isinstance(step, ArrivedEvent) else None
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
            return OtherInput(record)
        event = rebuild_event(record, self.asked.get(record.request or ""), adapters)
        if event is None:
            return None
        call = decoding.convert(record.data, CallData) if "gate" in record.data else None
        return ArrivedEvent(record, event.event, call, event.why_not)


TraceKey = tuple[str | None, str | None, str, str, int]
CallKey = tuple[str | None, str | None, str | None]


def _call_key(record: Record) -> CallKey:
    return record.agent, record.session, record.call


def _trace_key(record: Record, kind: str, native: str) -> TraceKey:
    return record.agent, record.session, kind, native, record.at
