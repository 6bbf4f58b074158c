"""Hook payloads as the agents write them, newly made for these tests."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.agents.base import Adapter, Intake
from watchgate.agents.registry import ADAPTERS
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event, Lane

FAMILY = {name: ADAPTERS[name] for name in ("claude", "codex")}
"""The agents whose hooks speak Claude Code's protocol."""

INSTALLABLE = tuple(name for name, each in ADAPTERS.items() if each.setup is not None)
"""The agents that have somewhere to install hooks."""

NOW = Instant(1_795_000_000_000_000, 12.5)
CALL: dict[str, Any] = {
    "tool_name": "Bash",
    "tool_input": {"command": "make clean"},
    "tool_use_id": "toolu_7",
}


def payload(event: str, /, **fields: Any) -> bytes:
    return msgspec.json.encode(
        {
            "session_id": "s-1",
            "transcript_path": "/home/dev/t.jsonl",
            "cwd": "/home/dev/shop",
            "hook_event_name": event,
            **fields,
        }
    )


def decoded(
    adapter: Adapter,
    event: str,
    /,
    lane: Lane = Lane.OBSERVE,
    env: dict[str, str] | None = None,
    **fields: Any,
) -> Event:
    intake = Intake(lane=lane, at=NOW, native=event, env=env or {})
    return adapter.decode(payload(event, **fields), intake)
