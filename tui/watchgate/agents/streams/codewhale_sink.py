"""CodeWhale's event sinks: `{"at", "event"}`, one line for each event, often one connection too.

They name no session and number nothing, and they cannot be answered. A phase may be any word: the
documented ones differ from those that are sent. Structs: `core.codewhale`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from watchgate.agents.streams import codewhale_frames as frames
from watchgate.agents.streams import codewhale_tools as tools
from watchgate.agents.streams.fields import Fields, folder, rest, table, word
from watchgate.agents.streams.heard import Heard
from watchgate.agents.streams.source import Source
from watchgate.core import decoding
from watchgate.core.clock import Instant
from watchgate.core.codewhale import events, stamps
from watchgate.core.events import Event, Text

AGENT: Final = "codewhale"


def fits(fields: Fields) -> bool:
    """Whether a line is such an envelope."""
    return bool(word(fields, "at") and word(table(fields, "event"), "type"))


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """The events of one line."""
    said_us = stamps.read(word(fields, "at"))
    heard = Heard(source, at, agent=AGENT, session=source.session, said_us=said_us)
    given = table(fields, "event")
    try:
        event: events.HookEvent = decoding.convert(given, events.HookEvent)
    except msgspec.ValidationError:
        heard.words("notice", word(given, "type") or "event", rest(given, ("type",)))
        return heard.events
    _hear(heard, event)
    return heard.events


def _hear(heard: Heard, event: events.HookEvent) -> None:
    match event:
        case events.ToolLifecycle():
            _tool(heard, event)
        case events.GenericEventFrame(frame=frame):
            frames.hear(heard, frame)
        case events.ResponseStart():
            heard.words("model.request", "response_start")
        case events.ResponseDelta(delta=delta):
            heard.say("message", "response_delta", Text(delta))
        case events.ResponseEnd():
            heard.words("model.response", "response_end")
        case events.JobLifecycle(job_id=job, phase=phase, progress=progress, detail=detail):
            percent = "" if progress is None else f" {progress:g}%"
            said = f"{job} {phase}{percent}" + (f": {detail}" if detail else "")
            heard.words("notice", f"job_lifecycle/{phase}", said)
        case events.ApprovalLifecycle(phase=phase, reason=reason):
            heard.words("notice", f"approval_lifecycle/{phase}", reason or "")
        case events.SerializationError():
            heard.words("notice", "serialization_error", "CodeWhale could not write an event down")


def _tool(heard: Heard, event: events.ToolLifecycle) -> None:
    native = f"tool_lifecycle/{event.phase}"
    payload: Fields = event.payload if isinstance(event.payload, dict) else {}
    tool = tools.of_payload(event.tool_name, payload, event.response_id)
    known = heard.seen.calls.get(event.response_id)
    match event.phase:
        case "precheck":
            begins = (
                heard.begin if tools.tells_arguments(event.tool_name, payload) else heard.announce
            )
            begins(native, tool, cwd=folder(payload, "cwd"))
        case "completed" | "failed" if known is not None:
            ok = event.phase == "completed" and payload.get("ok") is not False
            heard.end(native, known.tool, ok=ok, said=word(payload, "error") or rest(payload))
        case _:
            if known is not None and event.phase == "dispatching":
                heard.begin_announced(known)
                known.ran = True
            heard.words("notice", native, f"{event.tool_name} {rest(payload)}".rstrip())
