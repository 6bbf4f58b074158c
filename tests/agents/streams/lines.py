"""Lines of other programs' streams, newly made in each format's exact shape, and their reading."""

from __future__ import annotations

import json
from typing import Any

from watchgate.agents import streams
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Instant
from watchgate.core.model.events import Event

AT = Instant(1_795_000_000_000_000, 12.5)
GUESS = "pid 7 at 10:11:12"


def source(pid: int = 7) -> Source:
    return Source(GUESS, pid=pid)


def read(line: str | dict[str, Any], of: Source | None = None) -> list[Event]:
    """The events of one line, without the one that tells of a guessed session."""
    fields = json.loads(line) if isinstance(line, str) else line
    found = streams.read_line(fields, of or source(), AT)
    assert found is not None, "the shape is not recognised"
    return [event for event in found if event.native != "session.guessed"]


def one(line: str | dict[str, Any], of: Source | None = None) -> Event:
    """The only event of one line."""
    (event,) = read(line, of)
    return event


def whale(event: dict[str, Any], at: str = "2026-05-31T11:19:28+00:00") -> dict[str, Any]:
    """An envelope of CodeWhale's sinks."""
    return {"at": at, "event": event}


def frame(given: dict[str, Any]) -> dict[str, Any]:
    """A frame in such an envelope."""
    return whale({"type": "generic_event_frame", "frame": given})


def runtime(seq: int, event: str, payload: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An envelope of CodeWhale's runtime."""
    return {
        "schema_version": 1,
        "seq": seq,
        "event": event,
        "kind": event,
        "thread_id": "thr_1",
        "turn_id": "turn_5",
        "item_id": None,
        "timestamp": "2026-08-11T20:18:49.123Z",
        "payload": payload,
        **more,
    }


def universal(sequence: int, kind: str, data: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An envelope of sandbox-agent."""
    return {
        "event_id": f"evt_{sequence}",
        "sequence": sequence,
        "time": f"2026-01-30T21:49:{sequence:02d}Z",
        "session_id": "s1",
        "native_session_id": "thread_x",
        "source": "agent",
        "synthetic": False,
        "type": kind,
        "data": data,
        **more,
    }


def item(event: str, **fields: Any) -> dict[str, Any]:
    """An item event of `codex exec --json`."""
    return {"type": f"item.{event}", "item": {"id": "item_1", **fields}}


def command(event: str, **fields: Any) -> dict[str, Any]:
    """A command item of `codex exec --json`."""
    return item(event, type="command_execution", command="bash -lc 'ls'", **fields)
