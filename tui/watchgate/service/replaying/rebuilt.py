"""Rebuilds the event that a record was made of.

Where the journal kept what the agent sent, that is decoded once more; else the recorded call is
taken as it was decoded then.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast, get_args

import msgspec

from watchgate.agents.base import Adapter, DecodeError
from watchgate.core import decoding
from watchgate.core.clock import Instant
from watchgate.core.events import (
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
from watchgate.core.records import CallData, NoteData, Record, RequestData, ResultData
from watchgate.core.tool_input import input_hash
from watchgate.service.frames import Frame, decode_frame
from watchgate.service.framing import Head

EVENT_KINDS: Final = frozenset(get_args(Kind))
NOT_KEPT: Final = "its content was not kept"
_ENDS: Final = ("tool.post", "tool.error")
_COVERED: Final = re.compile(r"<[a-z-]+, \d+ chars>")
"""What stands for a secret in the journal."""


class Rebuilt(msgspec.Struct, frozen=True):
    """An event, and why nothing about it can be decided again; empty where it can."""

    event: Event
    why_not: str = ""


def rebuilt(
    record: Record, asked: RequestData | None, adapters: Mapping[str, Adapter]
) -> Rebuilt | None:
    """Rebuilds the event of a record; `asked` is its request, if any. None without an event."""
    if record.kind not in EVENT_KINDS:
        return None
    try:
        if "gate" in record.data:
            return _call(record, decoding.convert(record.data, CallData), asked, adapters)
        if record.kind in _ENDS:
            unkept = NOT_KEPT if "input_bytes" in record.data["tool"] else ""
            return Rebuilt(_result(record, decoding.convert(record.data, ResultData)), unkept)
        if record.kind == "usage":
            return None  # tokens and money decide nothing
        return Rebuilt(_note(record, decoding.convert(record.data, NoteData)))
    except (msgspec.ValidationError, ValueError):
        return None


def _call(
    record: Record, call: CallData, asked: RequestData | None, adapters: Mapping[str, Adapter]
) -> Rebuilt:
    terms = call.terms or Terms()
    if call.raw and not _COVERED.search(call.raw):
        try:
            return Rebuilt(_decoded(record, call, terms, adapters))
        except DecodeError as fault:
            recorded = _recorded(record, call, call.tool, terms, asked)
            return Rebuilt(recorded, f"what the agent sent is not read any more: {fault}")
    tool = call.tool
    if asked is not None and _was_rewritten(call, asked):
        made = input_hash(asked.before or {}, tool.cls)
        tool = msgspec.structs.replace(tool, input=asked.before or {}, input_hash=made)
    return Rebuilt(_recorded(record, call, tool, terms, asked), _not_whole(record, tool))


def _was_rewritten(call: CallData, asked: RequestData) -> bool:
    """Returns whether a handler made the recorded call of another; an operator edits later."""
    same = call.tool.input_hash == asked.tool.input_hash
    return asked.before is not None and not asked.edited_from and same


def _decoded(
    record: Record, call: CallData, terms: Terms, adapters: Mapping[str, Adapter]
) -> Event:
    payload = call.raw.encode()
    head = Head(
        agent=record.agent or "",
        lane=Lane(call.lane),
        length=len(payload),
        native=call.native,
        deadline_s=terms.deadline_s,
        env=terms.env,
    )
    return decode_frame(Frame(head, payload, 0, _at(record)), adapters)


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
        return NOT_KEPT
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
