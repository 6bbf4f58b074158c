"""The first hook protocol of the codex fork: any failing exit blocks.

Source of the wire format: RyderFreeman4Logos/codex, branch of its pull request 3.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.bodies import tool_input, tool_name, words
from watchgate.core.hooks.exchange import Exchange, Protocol
from watchgate.core.hooks.rewrites import rewritten
from watchgate.core.hooks.texts import answer, compact, utc_seconds, word
from watchgate.core.verdicts import Allow, Block, Defer, Failed, Report

EVENTS: Final = {
    "tool.pre": "pre_tool_use",
    "tool.permission": "pre_tool_use",
    "tool.post": "post_tool_use",
    "tool.error": "post_tool_use",
    "turn.end": "after_agent",
    "turn.error": "stop",
    "turn.interrupt": "stop",
    "prompt.submit": "user_prompt_submit",
    "notice": "notification",
}


def ask(event: Event, _handler_id: str) -> Exchange:
    """Builds an object of session, folder, time and the event."""
    name = EVENTS.get(event.kind, "notification")
    payload = {
        "session_id": event.session,
        "cwd": event.cwd,
        "triggered_at": utc_seconds(event.at),
        "hook_event": {"event_type": name, **_fields(name, event)},
    }
    return Exchange(msgspec.json.encode(payload), {})


def read(stdout: str, event: Event) -> Report:
    """Reads proceed, block or modify; an empty stdout has nothing against the call."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    match fields.get("decision"):
        case "proceed":
            return Report(verdict=Allow())
        case "block":
            name = EVENTS.get(event.kind, event.kind)
            return Report(verdict=Block(word(fields.get("message")) or f"Blocked by {name} hook"))
        case "modify":
            return Report(verdict=rewritten(event, fields.get("content"), presented=False))
    return Report(verdict=Failed("parse", "decision must be proceed, block or modify"))


def _fields(name: str, event: Event) -> dict[str, Any]:
    match name:
        case "pre_tool_use":
            # The tool's input is a text in this protocol, whatever the agent sent.
            return {"tool_name": tool_name(event), "tool_input": compact(tool_input(event))}
        case "post_tool_use":
            return {"tool_name": tool_name(event), "tool_output": words(event)}
        case "after_agent":
            return {
                "thread_id": event.session,
                "turn_id": event.turn or "",
                "input_messages": [],
                "last_assistant_message": words(event) or None,
            }
        case "user_prompt_submit":
            return {"user_message": words(event)}
        case "stop":
            return {"reason": words(event)}
        case _:
            return {"message": words(event) or event.native, "level": "info"}


CODEX_FORK_V1: Final = Protocol(
    name="codex-fork-v1",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "parse", "other": "block"},
    silent_block="Blocked by {event} hook: hook exited with code {code}",
    exit_grace_s=5.0,
)
