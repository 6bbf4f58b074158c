"""Parts of an event that several protocols tell."""

from __future__ import annotations

from typing import Any

from watchgate.core.events import Event, SessionChange, Text, ToolResult, Unknown


def words(event: Event) -> str:
    """The event's text: a prompt, a message, a result, or what the session did."""
    match event.body:
        case Text(text=text) | Unknown(text=text) | ToolResult(text=text):
            return text
        case SessionChange(what=what, detail=detail):
            return f"{what}: {detail}" if what and detail else what or detail
        case _:
            return ""


def tool_name(event: Event) -> str:
    """What the agent calls the tool."""
    return event.tool.native_name if event.tool else ""


def tool_input(event: Event) -> dict[str, Any]:
    """All of the tool call's input."""
    return event.tool.input if event.tool else {}


def transcript(event: Event) -> str | None:
    """Where the agent keeps the session's transcript, where the event says so."""
    return event.body.transcript if isinstance(event.body, SessionChange) else None


def model(event: Event) -> str | None:
    """The model, where the event names it."""
    return event.body.model if isinstance(event.body, SessionChange) else None
