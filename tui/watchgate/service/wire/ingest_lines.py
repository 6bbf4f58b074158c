"""JSON lines: our own form with its requests, and the streams of other programs.

A line of no known shape becomes a raw event; only a request (`"ask": true`) is answered, by one
line with its `id`, and closed when it cannot be read.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.agents import streams
from watchgate.agents.base import DecodeError, HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base import decoding
from watchgate.core.base.clock import Instant
from watchgate.core.base.decoding import DEEPEST, JSON_FAULTS, too_deep
from watchgate.core.gate.record_builders import gone
from watchgate.core.model.events import (
    Body,
    Can,
    Event,
    Folder,
    Kind,
    Lane,
    Name,
    SessionChange,
    Text,
    Tool,
    ToolCall,
    ToolClass,
    ToolResult,
    Unknown,
    Usage,
)
from watchgate.core.model.records import Draft
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.verdicts import Reply, SayAllow, SayDeny, SayNothing
from watchgate.core.state.state import State
from watchgate.core.tools.tool_input import input_hash

MAX_RAW_CHARS = 4_000
ASKS = ("tool.pre", "prompt.submit")
"""The kinds that a line of ours may ask about."""
_OVER = "the stream that it was followed by has ended, and no line told that the session has"


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ours: `{"watchgate":1, "kind":..., "agent":..., "session":...}`.

    `tool` and `input` go with the tool kinds, `ok` and `took_ms` with their results, `usage` with
    `usage`, `text` with the rest. `ask` with `tool.pre` waits for a decision for at most
    `deadline_s` and is answered by `{"id":..., "decision":"allow"|"deny"|"handback",
    "reason":...}`. `proxy` says that whoever calls the tool is this process or runs below it, not
    above it; `edits` that it runs the `input` of the answer, where there is one: without that
    nobody is let edit the call.
    """

    watchgate: Literal[1]
    kind: Kind
    agent: Name
    session: Name
    cwd: Folder = ""
    turn: Name | None = None
    tool: Name = ""
    tool_class: ToolClass = "other"
    input: dict[str, Any] = {}
    call_id: Name | None = None
    ok: bool = True
    took_ms: int | None = None
    text: str = ""
    usage: Usage | None = None
    ask: bool = False
    id: str | int | None = None
    deadline_s: float = 300.0
    proxy: bool = False
    edits: bool = False


class BadRequest(msgspec.Struct, frozen=True):
    """A request of ours that cannot be taken; it is answered closed, with its `id`."""

    id: str | int | None
    why: str


class _RequestFields(msgspec.Struct, frozen=True):
    watchgate: Literal[1]
    ask: bool = False
    id: str | int | None = None


Decoded = tuple[Event, Line | BadRequest | None]
"""An event with the line or the request that it came from; None for what is not ours."""

OURS = b'{"watchgate"'
_decoder = decoding.decoder(Line)
_asked = decoding.decoder(_RequestFields)


def decode_chunk(chunk: bytes, at: Instant, source: Source) -> list[Decoded]:
    """Returns the events of whole lines; fields that they leave out come from the source."""
    lines = None
    if chunk.startswith(OURS):
        try:
            lines = _decoder.decode_lines(chunk)
        except JSON_FAULTS:
            lines = None
    if lines is None or any(too_deep(line.input) for line in lines):
        raws = (raw.strip() for raw in chunk.splitlines())
        return [each for raw in raws if raw for each in _decode(raw, at, source)]
    return [_decoded(line, at) for line in lines]


def _decoded(line: Line, at: Instant) -> Decoded:
    """Returns the event with its line; one that asks where nothing can be asked is closed."""
    event = _event(line, at)
    if line.ask and not event.lane.waits:
        return event, BadRequest(
            line.id, f"ask goes with {' and '.join(ASKS)}, not with {line.kind}"
        )
    return event, line


def _decode(raw: bytes, at: Instant, source: Source) -> list[Decoded]:
    why = ""
    if not raw.startswith(OURS):
        # Streams are long, and their lines are never ours.
        events, why = _foreign(raw, at, source)
        if events is not None:
            return [(event, None) for event in events]
    try:
        line = _decoder.decode(raw)
    except JSON_FAULTS as fault:
        why = why or str(fault)
    else:
        if not too_deep(line.input):
            return [_decoded(line, at)]
        why = f"an input nested over {DEEPEST} levels deep"
    if raw.startswith(OURS):
        events, _ = _foreign(raw, at, source)
        if events is not None:
            return [(event, None) for event in events]
    agent = source.agent or "unknown"
    event = raw_event(raw, why, at, session=source.guess, agent=agent)
    return [(event, _unread(raw, why))]


def _foreign(raw: bytes, at: Instant, source: Source) -> tuple[list[Event] | None, str]:
    """Returns the events of another program's line; for any other None, and why if known."""
    try:
        fields = msgspec.json.decode(raw)
        events = streams.read_line(fields, source, at) if isinstance(fields, dict) else None
    except (*JSON_FAULTS, DecodeError) as fault:
        return None, str(fault)
    if events is not None and any(e.tool is not None and too_deep(e.tool.input) for e in events):
        return None, f"an input nested over {DEEPEST} levels deep"
    return events, ""


def _unread(raw: bytes, why: str) -> BadRequest | None:
    try:
        asked = _asked.decode(raw)
    except JSON_FAULTS:
        return None
    return BadRequest(asked.id, f"unreadable request: {why}") if asked.ask else None


def raw_event(
    raw: bytes,
    why: str,
    at: Instant,
    *,
    session: str,
    agent: str = "unknown",
    native: str = "",
    lane: Lane = Lane.OBSERVE,
) -> Event:
    """Returns an undecodable input as an event with its text.

    Args:
        raw: The bytes, of which 4,000 are kept.
        why: The fault, in words.
        at: The time of arrival.
        session: The session that it is shown under.
        agent: The agent's name.
        native: The agent's own name of the event.
        lane: The lane.
    """
    text = raw[:MAX_RAW_CHARS].decode("utf-8", "backslashreplace")
    return Event(
        kind="unknown",
        native=native,
        agent=agent,
        session=session,
        lane=lane,
        at=at,
        body=Unknown(why=why, text=text),
    )


def line_answer(line_id: str | int | None, reply: Reply) -> HookAnswer:
    """Returns the reply line to a request of ours."""
    reply_fields: dict[str, Any] = {"id": line_id}
    match reply:
        case SayAllow(input=edited, context=words):
            reply_fields |= {"decision": "allow"} | (
                {"input": edited} if edited is not None else {}
            )
            reply_fields |= {"context": words} if words else {}
        case SayDeny(reason=reason):
            reply_fields |= {"decision": "deny", "reason": reason}
        case SayNothing(context=words):
            reply_fields |= {"decision": "handback"} | ({"context": words} if words else {})
    return HookAnswer(stdout=msgspec.json.encode(reply_fields) + b"\n")


def _event(line: Line, at: Instant) -> Event:
    asks = line.ask and line.kind in ASKS
    calls = asks and line.kind == "tool.pre"
    return Event(
        kind=line.kind,
        native=line.kind,
        agent=line.agent,
        session=line.session,
        lane=Lane.GATE if asks else Lane.OBSERVE,
        at=at,
        body=_body(line),
        turn=line.turn,
        cwd=line.cwd,
        can=Can(allow=calls, deny=asks, modify=calls and line.edits),
        deadline_s=line.deadline_s if asks else None,
        runs_unasked=calls,
        autonomous=calls,
    )


def _body(line: Line) -> Body:
    if line.kind in ("tool.pre", "tool.permission", "tool.post", "tool.error"):
        tool = Tool(
            name=line.tool,
            native_name=line.tool,
            cls=line.tool_class,
            input=line.input,
            input_hash=input_hash(line.input, line.tool_class),
            call_id=line.call_id,
        )
        if line.kind in ("tool.pre", "tool.permission"):
            return ToolCall(tool)
        ok = line.ok and line.kind == "tool.post"
        return ToolResult(tool, ok, line.text, line.took_ms)
    if line.kind == "usage" and line.usage is not None:
        return line.usage
    if line.kind.startswith("session."):
        return SessionChange(what=line.kind, detail=line.text)
    return Text(line.text)


def session_ends(source: Source, state: State, now: Instant) -> list[Draft]:
    """Returns the records that end a source's sessions, as all that they print has ended."""
    views = [state.session(*each) for each in source.over()]
    left = [view for view in views if view is not None and view.state is not SessionState.GONE]
    return [gone(view.agent, view.session, _OVER, now.wall_us) for view in left]
