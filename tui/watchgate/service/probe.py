"""The doctor's probe call, which a core tells from an agent's call: it belongs to no session.

It is always denied. A payload that somebody makes look like it gains nothing but that denial, and
hides nothing: every word of it is fixed.
"""

from __future__ import annotations

from watchgate.core.events import Event, ToolCall

SESSION = "watchgate-doctor"
NATIVE = "doctor.probe"
DENIAL = "The core answers. This was the probe of watchgate doctor: nothing was to run"

COMMAND = ": watchgate-doctor"
"""Does nothing in any shell."""
PATH = "watchgate-doctor"


def is_probe(event: Event) -> bool:
    """Returns whether an event is one of the doctor's calls, by every word of its input.

    Nothing else tells it for all: some agents give a call no id, and some no session. Its lane may
    be another than it was made for: while the gate is off, everything is observed.
    """
    if not isinstance(event.body, ToolCall):
        return False
    tool = event.body.tool
    words = [word for word in tool.input.values() if word != ""]
    return tool.cls != "edit" and words in ([COMMAND], [PATH])


def about(event: Event) -> str:
    """Returns the text of the core's record about it."""
    return f"watchgate doctor tried the {event.lane} lane of {event.agent}; no agent asked anything"
