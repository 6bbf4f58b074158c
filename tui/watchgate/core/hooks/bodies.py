"""Parts of an event that several hook protocols send."""

from __future__ import annotations

from typing import Any

from watchgate.core.events import Event, SessionChange, Text, ToolResult, Unknown


def words(event: Event) -> str:
    """Returns the event's text: a prompt, a message, a result, or how the session changed."""
    match event.body:
        case Text(text=text) | Unknown(text=text) | ToolResult(text=text):
            return text
        case SessionChange(what=what, detail=detail):
            return f"{what}: {detail}" if what and detail else what or detail
        case _:
            return ""


def tool_name(event: Event) -> str:
    """Returns the agent's own name of the tool."""
    return event.tool.native_name if event.tool else ""


def tool_input(event: Event) -> dict[str, Any]:
    """Returns all of the tool call's input."""
    return event.tool.input if event.tool else {}


def transcript(event: Event) -> str | None:
    """Returns the path of the session's transcript, where the event says so; else None."""
    return event.body.transcript if isinstance(event.body, SessionChange) else None


def model(event: Event) -> str | None:
    """Returns the model, where the event names it; else None."""
    return event.body.model if isinstance(event.body, SessionChange) else None
