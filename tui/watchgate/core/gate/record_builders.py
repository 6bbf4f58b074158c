"""Builders of records from events, calls and requests: one function for each kind of record."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.gate.call_tracker import TrackedCall, ref_of, summarized
from watchgate.core.gate.effects import Emit
from watchgate.core.gate.gate_coverage import UngatedFinding
from watchgate.core.gate.rate_limit import SessionPause
from watchgate.core.model.actor import Actor
from watchgate.core.model.assessment import Assessment
from watchgate.core.model.events import (
    Event,
    SessionChange,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
)
from watchgate.core.model.records import (
    CallData,
    DeadlineData,
    DecisionData,
    Draft,
    EffectData,
    Gate,
    InferredData,
    NoteData,
    PausedData,
    ResultData,
    TraceData,
    UngatedData,
    UsageData,
    Word,
)
from watchgate.core.model.requests import ApprovalRequest
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.verdicts import Outcome
from watchgate.core.state.traces import HIDING, decided_in_ms
from watchgate.core.tools.summary import summary

RECORDED_CHARS = 8_000
"""Characters of an agent's own words that a record holds; hooks and extensions get all of them."""

CALL_SUMMARY_CHARS = 64 * 1024
TRACE_SUMMARY_CHARS = 2_000
"""Of a longer line only the beginning is recorded: the call's record has the whole input."""


def draft(
    event: Event,
    data: Any,
    call: str | None = None,
    request: str | None = None,
    *,
    kind: str | None = None,
    at: int | None = None,
) -> Emit:
    """Builds a record about this event's session.

    Args:
        event: the event.
        data: the data of the record, a struct of its kind.
        call: the reference of the call that it is about, if any.
        request: the id of the request that it is about, if any.
        kind: the kind of the record; by default the event's own.
        at: the time in UTC µs; by default the event's own.
    """
    return Emit(
        Draft(
            kind=kind or event.kind,
            at=event.at.wall_us if at is None else at,
            data=data,
            agent=event.agent,
            session=event.session,
            sub=event.sub_id,
            call=call,
            request=request,
        )
    )


def about(request: ApprovalRequest, kind: str, data: Any, now: Instant) -> Emit:
    """Builds a record about a request."""
    return draft(request.subject, data, request.call, request.id, kind=kind, at=now.wall_us)


def note(event: Event) -> Emit:
    """Builds the record of an event that is no single tool call."""
    body = event.body
    text = detail = undecoded = ""
    asks_there = False
    model = None
    tools: tuple[Tool, ...] = ()
    match body:
        case Text():
            text, asks_there = body.text, body.asks_there
        case SessionChange():
            detail = f"{body.what} {body.detail}".strip()
            model = body.model
        case Unknown():
            undecoded, detail = body.text, body.why
        case ToolBatch():
            detail, tools = f"{len(body.tools)} calls", body.tools
        case Usage():
            usage = {name: getattr(body, name) for name in body.__struct_fields__}
            return draft(event, UsageData(native=event.native, **usage))
        case _:
            detail, tools = summary(body.tool), (body.tool,)
            text = "allowed" if isinstance(body, ToolCall) and body.allowed else ""
    beginnings = [_beginning(each) for each in (text, undecoded, detail)]
    text, undecoded, detail = (words for words, _left_out in beginnings)
    data = NoteData(
        native=event.native,
        text=text,
        undecoded=undecoded,
        detail=detail,
        cwd=event.cwd,
        mode=event.mode,
        autonomous=event.autonomous,
        model=model,
        sub=event.sub,
        numbering=event.numbering,
        tools=tuple(msgspec.structs.replace(tool, input={}) for tool in tools),
        left_out_chars=sum(left_out for _words, left_out in beginnings),
        asks_there=asks_there,
    )
    return draft(event, data)


def called(
    event: Event,
    tool: Tool,
    call: TrackedCall,
    gate: Gate,
    assessment: Assessment | None,
    word: Word | None = None,
    because: tuple[str, str] | None = None,
) -> Emit:
    """Builds the record of a call on one of its lanes, with the gate's action.

    Args:
        event: the event of the lane.
        tool: the tool call as it would run.
        call: the call that the event belongs to.
        gate: the gate's action.
        assessment: the policy's assessment of the call, if there is one.
        word: the word for its end, if it ended here.
        because: rule and reason of a decision that is not the assessment's.
    """
    rule, reason = because or ((assessment.rule, assessment.reason) if assessment else ("", ""))
    data = CallData(
        native=event.native,
        lane=event.lane,
        tool=tool,
        summary=call_line(summarized(call, event, tool)),
        gate=gate,
        word=word,
        risk=assessment.risk if assessment else "unknown",
        rule=rule,
        reason=reason,
        cwd=event.cwd,
        mode=event.mode,
        autonomous=event.autonomous,
        sub=event.sub,
        raw=event.raw,
        terms=event.terms,
    )
    return draft(event, data, call.ref, call.request)


def traced(
    event: Event,
    call: TrackedCall | None,
    outcome: Outcome,
    preset: str,
    took_ms: float = 0.0,
) -> Emit:
    """Builds the record of the handlers that ran, with the verdict of each.

    Args:
        event: the event.
        call: the call that it belongs to, if any.
        outcome: the outcome, with a row for each handler.
        preset: the name of the dispatch policy.
        took_ms: milliseconds that the dispatch took.
    """
    tool, effect = event.tool, outcome.effect if event.lane.waits else "view"
    writes = effect == "view" and preset in HIDING
    data = TraceData(
        native=event.native,
        kind=event.kind,
        decision=outcome.decision,
        preset=preset,
        decided_by=outcome.decided_by,
        reason=outcome.reason,
        effect=effect,
        took_ms=took_ms,
        tool="" if tool is None else tool.name,
        summary="" if tool is None else _cut(summarized(call, event, tool), TRACE_SUMMARY_CHARS),
        shown=_cut(_rewritten(event, outcome), CALL_SUMMARY_CHARS) if writes else "",
        rows=outcome.trace,
    )
    data = msgspec.structs.replace(data, took_ms=decided_in_ms(data))
    ref = call.ref if call is not None else tool.call_id if tool is not None else None
    return draft(event, data, ref, kind="hook.trace")


def _rewritten(event: Event, outcome: Outcome) -> str:
    """Returns the call as a handler rewrote it; empty where none did."""
    if event.tool is None or outcome.input is None:
        return ""
    return summary(msgspec.structs.replace(event.tool, input=outcome.input), event.cwd)


def ended(event: Event, body: ToolResult, call: TrackedCall | None) -> Emit:
    """Builds the record of a call that ran; one that had not begun for us ran ungated."""
    result, left_out_chars = _beginning(body.text)
    data = ResultData(
        native=event.native,
        tool=body.tool,
        summary=_cut(summarized(call, event, body.tool), CALL_SUMMARY_CHARS),
        ok=body.ok,
        result=result,
        took_ms=body.took_ms,
        interrupted=body.interrupted,
        ungated=call is None,
        exit_code=body.exit_code,
        numbering=event.numbering,
        left_out_chars=left_out_chars,
    )
    return draft(event, data, ref_of(event, body.tool, call))


def _beginning(text: str) -> tuple[str, int]:
    """Returns a text's part for a record, and how many characters are left out."""
    left_out = max(len(text) - RECORDED_CHARS, 0)
    mark = f"... ({left_out} more characters)" if left_out else ""
    return f"{text[:RECORDED_CHARS]}{mark}", left_out


def decided(request: ApprovalRequest) -> Emit:
    """Builds the record of a request's end: its word, its author, its duration (AP-18)."""
    settlement = request.ending
    data = DecisionData(
        word=settlement.word,
        by=settlement.by,
        waited_s=round(settlement.waited_s, 3),
        reason=settlement.reason,
        digest=request.data.digest,
        scope=settlement.scope,
        width=settlement.width,
        answers=settlement.answers,
        actor=settlement.actor,
    )
    return about(request, "approval.decided", data, settlement.at)


def extended(request: ApprovalRequest, by: str, now: Instant, actor: Actor | None = None) -> Emit:
    """Builds the record of a request's new deadline."""
    data = DeadlineData(deadline_at=request.data.deadline_at, by=by, actor=actor)
    return about(request, "approval.extended", data, now)


def paused(event: Event, pause: SessionPause) -> Emit:
    """Builds the record that nobody is asked about a session's calls for a while."""
    data = PausedData(why=pause.why, until=pause.until.wall_us)
    return draft(event, data, kind="policy.paused")


def undelivered(request: ApprovalRequest, word: str, what: str, now: Instant) -> Emit:
    """Builds the record of a decision that was never sent to the agent (AP-14)."""
    return about(request, "effect.undelivered", EffectData(word=word, what=what), now)


def effect(
    event: Event,
    call: TrackedCall,
    what: str,
    alarm: Literal["", "DENIED BUT RAN", "RAN ALTERED"] = "",
) -> Emit:
    """Builds the record that a later event confirms a decision on this call, or contradicts it."""
    kind = "effect.contradicted" if alarm else "effect.confirmed"
    data = EffectData(word=call.decided or "", what=what, alarm=alarm)
    return draft(event, data, call.ref, call.request, kind=kind)


def refused(event: Event, call: TrackedCall, why: str) -> Emit:
    """Builds the record that the agent refused by itself what the gate had let go on."""
    data = EffectData(word=call.decided or "", what=why or "by its own rules")
    return draft(event, data, call.ref, call.request, kind="effect.refused")


def ungated(event: Event, tool: Tool, call: TrackedCall | None, finding: UngatedFinding) -> Emit:
    """Builds the record of a call that ran without having passed a gate."""
    data = UngatedData(
        what=_cut(summarized(call, event, tool), CALL_SUMMARY_CHARS),
        cause=finding.cause,
        why=finding.words,
        alarm=finding.alarm,
        count=finding.count,
        first=finding.first,
    )
    return draft(event, data, ref_of(event, tool, call), kind="effect.ungated")


def not_gated(event: Event, finding: UngatedFinding) -> Emit:
    """Builds the record of a session that runs calls and has never asked a gate."""
    what = "its calls run, and no gate was ever asked"
    data = UngatedData(what=what, cause=finding.cause, why=finding.words, alarm=finding.alarm)
    return draft(event, data, kind="policy.ungated")


def gone(agent: str, session: str, why: str, at_us: int) -> Draft:
    """Builds the record of a session that is taken to be over, though no event said so."""
    data = InferredData(state=str(SessionState.GONE), why=why)
    return Draft(kind="policy.inferred", at=at_us, data=data, agent=agent, session=session)


def call_line(line: str) -> str:
    """Returns the line of a call as its record has it."""
    return _cut(line, CALL_SUMMARY_CHARS)


def _cut(line: str, limit_chars: int) -> str:
    return line if len(line) <= limit_chars else f"{line[: limit_chars - 1]}…"
