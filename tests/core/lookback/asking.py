"""Asked-for calls for the tests of what is made of them."""

from __future__ import annotations

from typing import Any

from watchgate.agents.claude import CLASSES
from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.core.lookback.transcript_call import TranscriptCall

NOW_US = 1_795_348_800_000_000
DAY_US = 86_400_000_000
IDS = iter(range(1, 100_000))


def asked(command: str = "ls", *, call_id: str | None = None, **fields: Any) -> TranscriptCall:
    """A shell call of Claude; every one has an id of its own unless one is given."""
    name = fields.pop("name", "Bash")
    args = fields.pop("args", {"command": command})
    known = f"toolu_{next(IDS):020d}" if call_id is None else call_id
    given = {"agent": "claude", "session": "s1", "cwd": "/srv/app", "at_us": NOW_US, **fields}
    return TranscriptCall(tool=describe_tool(name, args, known, CLASSES), **given)
