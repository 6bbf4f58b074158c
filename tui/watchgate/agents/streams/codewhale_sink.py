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
    """Returns whether a line is such an envelope."""
    return bool(word(fields, "at") and word(table(fields, "event"), "type"))


def read(fields: Fields, source: Source, at: Instant) -> list[Event]:
    """Returns the events of one line."""
    sent_us = stamps.read(word(fields, "at"))
    line = Heard(source, at, agent=AGENT, session=source.session, sent_us=sent_us)
    given = table(fields, "event")
    try:
        event: events.HookEvent = decoding.convert(given, events.HookEvent)
    except msgspec.ValidationError:
        line.add_text("notice", word(given, "type") or "event", rest(given, ("type",)))
        return line.events
    _add_event(line, event)
    return line.events


def _add_event(line: Heard, event: events.HookEvent) -> None:
    match event:
        case events.ToolLifecycle():
            _tool(line, event)
        case events.GenericEventFrame(frame=frame):
            frames.hear(line, frame)
        case events.ResponseStart():
            line.add_text("model.request", "response_start")
        case events.ResponseDelta(delta=delta):
            line.add("message", "response_delta", Text(delta))
        case events.ResponseEnd():
            line.add_text("model.response", "response_end")
        case events.JobLifecycle(job_id=job, phase=phase, progress=progress, detail=detail):
            percent = "" if progress is None else f" {progress:g}%"
            notice = f"{job} {phase}{percent}" + (f": {detail}" if detail else "")
            line.add_text("notice", f"job_lifecycle/{phase}", notice)
        case events.ApprovalLifecycle(phase=phase, reason=reason):
            line.add_text("notice", f"approval_lifecycle/{phase}", reason or "")
        case events.SerializationError():
            line.add_text(
                "notice", "serialization_error", "CodeWhale could not write an event down"
            )


def _tool(line: Heard, event: events.ToolLifecycle) -> None:
    native = f"tool_lifecycle/{event.phase}"
    payload: Fields = event.payload if isinstance(event.payload, dict) else {}
    tool = tools.of_payload(event.tool_name, payload, event.response_id)
    known = line.session.calls.get(event.response_id)
    match event.phase:
        case "precheck":
            begins = (
                line.begin_call
                if tools.tells_arguments(event.tool_name, payload)
                else line.announce_call
            )
            begins(native, tool, cwd=folder(payload, "cwd"))
        case "completed" | "failed" if known is not None:
            ok = event.phase == "completed" and payload.get("ok") is not False
            line.end_call(native, known.tool, ok=ok, output=word(payload, "error") or rest(payload))
        case _:
            if known is not None and event.phase == "dispatching":
                line.begin_announced(known)
                known.ran = True
            line.add_text("notice", native, f"{event.tool_name} {rest(payload)}".rstrip())
