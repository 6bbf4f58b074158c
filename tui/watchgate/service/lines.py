"""JSON lines of our own form: events from programs that are no hooking agent, and their requests.

A line that is not of a known shape becomes a raw event; only a request (`"ask": true`) is answered,
by one line with its `id`, and closed when it cannot be read.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from watchgate.agents.base import Answer
from watchgate.core.clock import Instant
from watchgate.core.events import (
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
from watchgate.core.ids import digest
from watchgate.core.verdicts import Reply, SayAllow, SayDeny
from watchgate.service.nesting import DEEPEST, too_deep

MAX_RAW_CHARS = 4_000


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One line of ours: `{"watchgate":1, "kind":..., "agent":..., "session":...}`.

    `tool` and `input` go with the tool kinds, `ok` and `took_ms` with their results, `usage` with
    `usage`, `text` with the rest. `ask` with `tool.pre` waits for a decision for at most
    `deadline_s` and is answered by
    `{"id":..., "decision":"allow"|"deny"|"handback", "reason":...}`.
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


class Unread(msgspec.Struct, frozen=True):
    """A request of ours that cannot be taken; it is answered closed, with its `id`."""

    id: str | int | None
    why: str


class _Asked(msgspec.Struct, frozen=True):
    watchgate: Literal[1]
    ask: bool = False
    id: str | int | None = None


Decoded = tuple[Event, Line | Unread | None]
"""An event with the line or the request that it came from; None for what is not ours."""

_decoder = msgspec.json.Decoder(Line)
_asked = msgspec.json.Decoder(_Asked)
_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode_chunk(chunk: bytes, at: Instant, session: str) -> list[Decoded]:
    """The events of whole lines; `session` names the connection for lines without one."""
    try:
        lines = _decoder.decode_lines(chunk)
    except _FAULTS:
        lines = None
    if lines is None or any(too_deep(line.input) for line in lines):
        return [_decode(raw, at, session) for raw in chunk.splitlines() if raw.strip()]
    return [(_event(line, at), line) for line in lines]


def _decode(raw: bytes, at: Instant, session: str) -> Decoded:
    try:
        line = _decoder.decode(raw)
    except _FAULTS as fault:
        why = str(fault)
    else:
        if not too_deep(line.input):
            return _event(line, at), line
        why = f"an input nested over {DEEPEST} levels deep"
    return raw_event(raw, why, at, session=session), _unread(raw, why)


def _unread(raw: bytes, why: str) -> Unread | None:
    try:
        asked = _asked.decode(raw)
    except _FAULTS:
        return None
    return Unread(asked.id, f"unreadable request: {why}") if asked.ask else None


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
    """What could not be decoded, kept as text and shown."""
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


def line_answer(line_id: str | int | None, reply: Reply) -> Answer:
    """The reply line to a request of ours."""
    said: dict[str, Any] = {"id": line_id}
    match reply:
        case SayAllow(input=edited):
            said |= {"decision": "allow"} | ({"input": edited} if edited is not None else {})
        case SayDeny(reason=reason):
            said |= {"decision": "deny", "reason": reason}
        case _:
            said |= {"decision": "handback"}
    return Answer(stdout=msgspec.json.encode(said) + b"\n")


def _event(line: Line, at: Instant) -> Event:
    asks = line.ask and line.kind == "tool.pre"
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
        can=Can(allow=asks, deny=asks),
        deadline_s=line.deadline_s if asks else None,
        runs_unasked=asks,
        autonomous=asks,
    )


def _body(line: Line) -> Body:
    if line.kind in ("tool.pre", "tool.permission", "tool.post", "tool.error"):
        tool = Tool(
            name=line.tool,
            native_name=line.tool,
            cls=line.tool_class,
            input=line.input,
            input_hash=digest(line.input),
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
