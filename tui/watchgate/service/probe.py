"""The doctor's own call, by which a core knows that no agent asks: it belongs to no session.

It is always denied. A payload that somebody makes look like it gains nothing but that denial, and
hides nothing: every word of it is fixed.
"""

from __future__ import annotations

from typing import Any

from watchgate.core.events import Event, ToolCall

SESSION = "watchgate-doctor"
NATIVE = "doctor.probe"
DENIAL = "The core answers. This was the probe of watchgate doctor: nothing was to run"

INPUTS: dict[str, tuple[str, dict[str, Any]]] = {
    "gate": ("Bash", {"command": "true"}),
    "gate-read": ("Read", {"file_path": SESSION}),
    "observe": ("Bash", {"command": "true"}),
}


def is_probe(event: Event) -> bool:
    """Whether an event is one of the doctor's calls, in every word.

    Its lane may be another than it was made for: while the gate is off, everything is observed.
    """
    if event.session != SESSION or not isinstance(event.body, ToolCall):
        return False
    tool = event.body.tool
    return tool.call_id == SESSION and (tool.native_name, tool.input) in INPUTS.values()


def about(event: Event) -> str:
    """What a core records of it."""
    return f"watchgate doctor tried the {event.lane} lane of {event.agent}; no agent asked anything"
