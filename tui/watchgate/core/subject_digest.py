"""The digest that names one question for good: whose call it is, and exactly what would run."""

from __future__ import annotations

from watchgate.core.events import Event, Tool
from watchgate.core.ids import digest


def subject_digest(event: Event, tool: Tool) -> str:
    """The digest of exactly what is asked, as 64 hex digits."""
    return digest(
        {
            "agent": event.agent,
            "session": event.session,
            "sub": event.sub_id,
            "tool": tool.native_name,
            "input": tool.input,
            "cwd": event.cwd,
        }
    )
