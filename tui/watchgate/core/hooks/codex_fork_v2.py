"""The second hook protocol of the codex fork: flat, and only exit 2 blocks.

Source of the wire format: RyderFreeman4Logos/codex, its main branch since pull request 10. The
fork reads an answer's further fields in camel case and documents them in snake case; both are
taken. There variables are exported to the commands that the agent runs; no agent's environment can
be changed from here, so `env` of an answer is not read.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.events import Event
from watchgate.core.hooks.bodies import model, transcript, words
from watchgate.core.hooks.exchange import Exchange, ExitMap, Protocol
from watchgate.core.hooks.exec_tool import presented
from watchgate.core.hooks.rewrites import rewritten
from watchgate.core.hooks.texts import (
    answer,
    environment,
    for_the_model,
    utc_seconds,
    word,
)
from watchgate.core.verdicts import Allow, Block, Defer, Failed, Report, Verdict

FIRED: Final = {
    "tool.pre": "PreToolUse",
    "tool.post": "PostToolUse",
    "tool.error": "PostToolUseFailure",
    "turn.end": "AfterAgent",
    "session.start": "SessionStart",
    "session.end": "SessionEnd",
}
PLANNED: Final = {
    "tool.permission": "PermissionRequest",
    "prompt.submit": "UserPromptSubmit",
    "turn.interrupt": "Stop",
    "notice": "Notification",
    "agent.start": "SubagentStart",
    "agent.stop": "SubagentStop",
    "compact.pre": "PreCompact",
    "task.done": "TaskCompleted",
}
EVENTS: Final = FIRED | PLANNED
BLOCKABLE: Final = ("tool.pre", "tool.permission", "prompt.submit")

_WORDS: Final = {
    "AfterAgent": "last_assistant_message",
    "SessionEnd": "reason",
    "UserPromptSubmit": "prompt",
    "Stop": "reason",
    "Notification": "message",
    "SubagentStart": "task",
    "SubagentStop": "reason",
    "PreCompact": "trigger",
    "TaskCompleted": "summary",
}


def ask(event: Event, _handler_id: str) -> Exchange:
    """Builds one flat object, and the folder and session as variables."""
    name = EVENTS.get(event.kind, "Notification")
    payload = {
        "session_id": event.session,
        "cwd": event.cwd,
        "triggered_at": utc_seconds(event.at),
        "hook_event_name": name,
        "permission_mode": event.mode or "default",
        "event_type": name,
        **_fields(name, event),
    }
    path = transcript(event)
    if path is not None:
        payload["transcript_path"] = path
    return Exchange(
        msgspec.json.encode(payload),
        environment(
            {
                "CLAUDE_PROJECT_DIR": event.cwd,
                "CODEX_PROJECT_DIR": event.cwd,
                "CLAUDE_SESSION_ID": event.session,
                "CODEX_SESSION_ID": event.session,
            }
        ),
    )


def read(stdout: str, event: Event) -> Report:
    """Reads the decision and its messages for the model."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    specific = fields.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    messages = (
        for_the_model(fields.get("system_message", fields.get("systemMessage"))),
        for_the_model(specific.get("additionalContext")),
    )
    return Report(
        verdict=_verdict(fields, specific, event),
        text="\n\n".join(filter(None, messages)),
    )


def _verdict(fields: dict[str, Any], specific: dict[str, Any], event: Event) -> Verdict:
    decision = fields.get("decision")
    if decision == "block" or specific.get("permissionDecision") == "deny":
        return _block(fields, specific, event)
    match decision:
        case "modify":
            return rewritten(event, fields.get("content"), presented=True)
        case None if specific.get("updatedInput") is not None:
            return rewritten(event, specific["updatedInput"], presented=True)
        case None:
            return Defer()
        case "proceed":
            return Allow()
    return Failed("parse", "decision must be proceed, block or modify")


def _block(fields: dict[str, Any], specific: dict[str, Any], event: Event) -> Verdict:
    name = EVENTS.get(event.kind, event.kind)
    given = (
        word(specific.get("permissionDecisionReason")),
        word(fields.get("reason", fields.get("message"))),
    )
    reason = next(filter(None, given), f"Blocked by {name} hook")
    if event.kind in BLOCKABLE:
        return Block(reason)
    return Defer(f"warning: it said block, which blocks nothing at {event.kind}: {reason}")


def _fields(name: str, event: Event) -> dict[str, Any]:
    tool, shown = presented(event)
    match name:
        case "PreToolUse" | "PermissionRequest":
            return {"tool_name": tool, "tool_input": shown}
        case "PostToolUse":
            return {"tool_name": tool, "tool_input": shown, "tool_response": words(event)}
        case "PostToolUseFailure":
            return {"tool_name": tool, "tool_input": shown, "error": words(event)}
        case "SessionStart":
            return {"source": words(event), "model": model(event) or "", "agent_type": event.agent}
        case "AfterAgent":
            fixed = {"thread_id": event.session, "turn_id": event.turn or "", "input_messages": []}
        case "Notification":
            fixed = {"level": "info"}
        case "SubagentStart" | "SubagentStop":
            fixed = {"agent_type": event.sub.type if event.sub else ""}
        case _:
            fixed = {}
    return {**fixed, _WORDS[name]: words(event)}


_BLOCKS: Final[ExitMap] = {0: "parse", 2: "block", "other": "fail"}

CODEX_FORK_V2: Final = Protocol(
    name="codex-fork-v2",
    ask=ask,
    read=read,
    events=EVENTS,
    exits={0: "parse", 2: "warn", "other": "fail"},
    exits_at=dict.fromkeys(BLOCKABLE, _BLOCKS),
    silent_block="Blocked by {event} hook: it exited with {code} and wrote no reason to stderr",
    timeout_s=600.0,
)
