"""The first hook protocol of the codex fork: any failing exit blocks.

Source of the wire format: RyderFreeman4Logos/codex, branch of its pull request 3.

- The second hook protocol of the codex fork: flat, and only exit 2 blocks. Source of the wire
  format: RyderFreeman4Logos/codex, its main branch since pull request 10. The fork reads an
  answer's further fields in camel case and documents them in snake case; both are taken. There
  variables are exported to the commands that the agent runs; no agent's environment can be changed
  from here, so `env` of an answer is not read.
- The codex fork's legacy `notify`: a program that gets its event as the last argument. Other users
  of the machine can read arguments in the process list, so a protocol with its payload on stdin is
  the better choice. Source of the form: codex `notify` (kebab-case JSON), whose one event is
  `agent-turn-complete`; other kinds are sent under their own names.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from watchgate.core.dispatch.hooks.hook_exchange import ExitMap, HookInput, HookProtocol
from watchgate.core.dispatch.hooks.hook_texts import (
    compact_json,
    environment,
    event_text,
    json_answer,
    model_name,
    model_text,
    text_field,
    tool_input,
    tool_name,
    transcript_path,
    utc_seconds,
)
from watchgate.core.dispatch.hooks.rewrites import presented, rewritten
from watchgate.core.model.events import Event
from watchgate.core.model.verdicts import Allow, Block, Defer, Failed, Report, Verdict

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
V2_EVENTS: Final = FIRED | PLANNED
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


def ask_v2(event: Event, _handler_id: str) -> HookInput:
    """Builds one flat object, and the folder and session as variables."""
    name = V2_EVENTS.get(event.kind, "Notification")
    payload = {
        "session_id": event.session,
        "cwd": event.cwd,
        "triggered_at": utc_seconds(event.at),
        "hook_event_name": name,
        "permission_mode": event.mode or "default",
        "event_type": name,
        **_v2_fields(name, event),
    }
    path = transcript_path(event)
    if path is not None:
        payload["transcript_path"] = path
    return HookInput(
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


def read_v2(stdout: str, event: Event) -> Report:
    """Reads the decision and its messages for the model."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = json_answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    specific = fields.get("hookSpecificOutput")
    specific = specific if isinstance(specific, dict) else {}
    messages = (
        model_text(fields.get("system_message", fields.get("systemMessage"))),
        model_text(specific.get("additionalContext")),
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
    name = V2_EVENTS.get(event.kind, event.kind)
    given = (
        text_field(specific.get("permissionDecisionReason")),
        text_field(fields.get("reason", fields.get("message"))),
    )
    reason = next(filter(None, given), f"Blocked by {name} hook")
    if event.kind in BLOCKABLE:
        return Block(reason)
    return Defer(f"warning: it said block, which blocks nothing at {event.kind}: {reason}")


def _v2_fields(name: str, event: Event) -> dict[str, Any]:
    tool, shown = presented(event)
    match name:
        case "PreToolUse" | "PermissionRequest":
            return {"tool_name": tool, "tool_input": shown}
        case "PostToolUse":
            return {"tool_name": tool, "tool_input": shown, "tool_response": event_text(event)}
        case "PostToolUseFailure":
            return {"tool_name": tool, "tool_input": shown, "error": event_text(event)}
        case "SessionStart":
            return {
                "source": event_text(event),
                "model": model_name(event) or "",
                "agent_type": event.agent,
            }
        case "AfterAgent":
            fixed = {"thread_id": event.session, "turn_id": event.turn or "", "input_messages": []}
        case "Notification":
            fixed = {"level": "info"}
        case "SubagentStart" | "SubagentStop":
            fixed = {"agent_type": event.sub.type if event.sub else ""}
        case _:
            fixed = {}
    return {**fixed, _WORDS[name]: event_text(event)}


_BLOCKS: Final[ExitMap] = {0: "parse", 2: "block", "other": "fail"}

CODEX_FORK_V2: Final = HookProtocol(
    name="codex-fork-v2",
    ask=ask_v2,
    read=read_v2,
    events=V2_EVENTS,
    exits={0: "parse", 2: "warn", "other": "fail"},
    exits_at=dict.fromkeys(BLOCKABLE, _BLOCKS),
    silent_block="Blocked by {event} hook: it exited with {code} and wrote no reason to stderr",
    timeout_s=600.0,
)


NOTIFY_EVENTS: Final = {"turn.end": "agent-turn-complete"}
ARGUMENT_CAP_BYTES: Final = 64 << 10
"""Half of what Linux takes for one argument."""

MESSAGE_CAP_CHARS: Final = 32_000


def ask_notify(event: Event, _handler_id: str) -> HookInput:
    """Builds the event as the last argument, and no stdin."""
    return HookInput(stdin=None, env={}, argv=(notify_payload(event).decode(),))


def read_notify(_stdout: str, _event: Event) -> Report:
    """Returns that the event may go on: nobody reads what such a program writes."""
    return Report(verdict=Allow())


def notify_payload(event: Event) -> bytes:
    """Encodes the event as `notify` programs know it; cuts a long message until all of it fits."""
    text = event_text(event)[:MESSAGE_CAP_CHARS] if event.kind in NOTIFY_EVENTS else ""
    encoded = _encode(event, text)
    while text and len(encoded) > ARGUMENT_CAP_BYTES:
        text = text[: len(text) // 2]
        encoded = _encode(event, text)
    return encoded


def _encode(event: Event, message: str) -> bytes:
    return msgspec.json.encode(
        {
            "type": NOTIFY_EVENTS.get(event.kind, event.kind.replace(".", "-")),
            "thread-id": event.session,
            "turn-id": event.turn or "",
            "cwd": event.cwd,
            "client": event.agent,
            "input-messages": [],
            "last-assistant-message": message or None,
        }
    )


CODEX_NOTIFY: Final = HookProtocol(
    name="codex-notify",
    ask=ask_notify,
    read=read_notify,
    events=NOTIFY_EVENTS,
    exits={"other": "proceed"},
    reads_output=False,
    stdout_cap_bytes=0,
    stderr_cap_bytes=0,
)


V1_EVENTS: Final = {
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


def ask_v1(event: Event, _handler_id: str) -> HookInput:
    """Builds an object of session, folder, time and the event."""
    name = V1_EVENTS.get(event.kind, "notification")
    payload = {
        "session_id": event.session,
        "cwd": event.cwd,
        "triggered_at": utc_seconds(event.at),
        "hook_event": {"event_type": name, **_v1_fields(name, event)},
    }
    return HookInput(msgspec.json.encode(payload), {})


def read_v1(stdout: str, event: Event) -> Report:
    """Reads proceed, block or modify; an empty stdout has nothing against the call."""
    if not stdout.strip():
        return Report(verdict=Defer())
    fields = json_answer(stdout)
    if isinstance(fields, Failed):
        return Report(verdict=fields)
    match fields.get("decision"):
        case "proceed":
            return Report(verdict=Allow())
        case "block":
            name = V1_EVENTS.get(event.kind, event.kind)
            return Report(
                verdict=Block(text_field(fields.get("message")) or f"Blocked by {name} hook")
            )
        case "modify":
            return Report(verdict=rewritten(event, fields.get("content"), presented=False))
    return Report(verdict=Failed("parse", "decision must be proceed, block or modify"))


def _v1_fields(name: str, event: Event) -> dict[str, Any]:
    match name:
        case "pre_tool_use":
            # The tool's input is a text in this protocol, whatever the agent sent.
            return {"tool_name": tool_name(event), "tool_input": compact_json(tool_input(event))}
        case "post_tool_use":
            return {"tool_name": tool_name(event), "tool_output": event_text(event)}
        case "after_agent":
            return {
                "thread_id": event.session,
                "turn_id": event.turn or "",
                "input_messages": [],
                "last_assistant_message": event_text(event) or None,
            }
        case "user_prompt_submit":
            return {"user_message": event_text(event)}
        case "stop":
            return {"reason": event_text(event)}
        case _:
            return {"message": event_text(event) or event.native, "level": "info"}


CODEX_FORK_V1: Final = HookProtocol(
    name="codex-fork-v1",
    ask=ask_v1,
    read=read_v1,
    events=V1_EVENTS,
    exits={0: "parse", "other": "block"},
    silent_block="Blocked by {event} hook: hook exited with code {code}",
    exit_grace_s=5.0,
)
