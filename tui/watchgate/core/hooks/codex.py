"""The hook protocol of upstream codex: its events on stdin, and its exit codes.

Source of the wire format: the hook schemas of openai/codex, codex-rs/hooks. Exit 2 counts only with
a reason on stderr; after the fact that reason is for the model and prevents nothing.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.bodies import model, transcript, words
from watchgate.core.hooks.codex_answers import read
from watchgate.core.hooks.exchange import Exchange, ExitMap, Protocol
from watchgate.core.hooks.exec_tool import presented

EVENTS: Final = {
    "tool.pre": "PreToolUse",
    "tool.permission": "PermissionRequest",
    "tool.post": "PostToolUse",
    "tool.error": "PostToolUse",
    "compact.pre": "PreCompact",
    "compact.post": "PostCompact",
    "session.start": "SessionStart",
    "prompt.submit": "UserPromptSubmit",
    "turn.end": "Stop",
    "agent.start": "SubagentStart",
    "agent.stop": "SubagentStop",
}
MODES: Final = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


def ask(event: Event, _handler_id: str) -> Exchange:
    """Builds one flat object: the fields that every event has, and the event's own."""
    name = EVENTS.get(event.kind, event.native)
    payload = {
        "session_id": event.session,
        "turn_id": event.turn or "",
        "transcript_path": transcript(event),
        "cwd": event.cwd,
        "hook_event_name": name,
        "model": model(event) or "",
        "permission_mode": event.mode if event.mode in MODES else MODES[0],
        **_fields(name, event),
    }
    if event.sub is not None:
        payload |= {"agent_id": event.sub.id, "agent_type": event.sub.type}
    return Exchange(msgspec.json.encode(payload), {})


def _fields(name: str, event: Event) -> dict[str, Any]:
    match name:
        case "PreToolUse" | "PermissionRequest" | "PostToolUse":
            return _tool_fields(name, event)
        case "SessionStart":
            return {"source": words(event)}
        case "UserPromptSubmit":
            return {"prompt": words(event)}
        case "PreCompact" | "PostCompact":
            return {"trigger": words(event)}
        case "Stop" | "SubagentStop":
            return {"stop_hook_active": False, "last_assistant_message": words(event) or None}
        case _:
            return {}


def _tool_fields(name: str, event: Event) -> dict[str, Any]:
    tool, shown = presented(event)
    fields: dict[str, Any] = {"tool_name": tool, "tool_input": shown}
    if event.tool is not None and event.tool.call_id is not None:
        fields["tool_use_id"] = event.tool.call_id
    if name == "PostToolUse":
        fields["tool_response"] = words(event)
    return fields


_BLOCKS: Final[ExitMap] = {0: "parse", 2: "block", "other": "fail"}
_FEEDS_BACK: Final[ExitMap] = {0: "parse", 2: "inject", "other": "fail"}

CODEX: Final = Protocol(
    name="codex",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "parse", "other": "fail"},
    exits_at={
        **dict.fromkeys(("tool.pre", "tool.permission", "prompt.submit"), _BLOCKS),
        **dict.fromkeys(("tool.post", "tool.error", "turn.end", "agent.stop"), _FEEDS_BACK),
    },
    timeout_s=600.0,
    timeout_floor_s=1.0,
)
