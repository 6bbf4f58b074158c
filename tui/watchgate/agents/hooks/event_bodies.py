"""Builders of event bodies from the fields that Claude Code and Codex share.

- The JSON that Claude Code, Codex and their kin write to a hook's standard input. The canonical
  tool of a call: its class, and the hash that makes two descriptions one call.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from watchgate.agents.base import DecodeError, Intake
from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.events import (
    Body,
    Folder,
    Kind,
    Name,
    SessionChange,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolClass,
    ToolResult,
)
from watchgate.core.tools.tool_input import input_hash


class HookPayload(msgspec.Struct, frozen=True, gc=False):
    """One hook call. What identifies it is typed; what differs between events is `Any`."""

    session_id: Name = ""
    hook_event_name: Name = ""
    event_type: Name = ""
    cwd: Folder = ""
    prompt_id: Name | None = None
    turn_id: Name | None = None
    permission_mode: Name | None = None
    agent_id: Name | None = None
    agent_type: Name | None = None
    tool_name: Name = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: Name | None = None
    tool_calls: list[CallPayload] = []
    transcript_path: Any = None
    model: Any = None
    tool_response: Any = None
    duration_ms: Any = None
    is_interrupt: Any = None
    prompt: Any = None
    message: Any = None
    notification_type: Any = None
    level: Any = None
    delta: Any = None
    error: Any = None
    error_details: Any = None
    last_assistant_message: Any = None
    source: Any = None
    reason: Any = None
    trigger: Any = None
    file_path: Any = None
    new_cwd: Any = None
    directory: Any = None
    to_model: Any = None
    name: Any = None
    worktree_path: Any = None
    task_subject: Any = None
    compact_summary: Any = None


class CallPayload(msgspec.Struct, frozen=True, gc=False):
    """One call of a batch."""

    tool_name: Name = ""
    tool_input: dict[str, Any] = {}
    tool_use_id: Name | None = None


_DECODER = decoding.decoder(HookPayload)
_COMMON = frozenset(
    (
        "session_id",
        "hook_event_name",
        "event_type",
        "triggered_at",
        "cwd",
        "prompt_id",
        "turn_id",
        "permission_mode",
        "agent_id",
        "agent_type",
        "transcript_path",
        "model",
        "effort",
    )
)


def decode(payload: bytes, intake: Intake) -> tuple[HookPayload, str]:
    """Returns the payload and its event's name, from the payload or else the frame's header.

    Raises `DecodeError` when it is no JSON object of this family, or names no session or event.
    """
    try:
        decoded = _DECODER.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook payload: {error}") from error
    native = decoded.hook_event_name or decoded.event_type or intake.native
    if not native:
        raise DecodeError("the payload does not name its event (hook_event_name)")
    if not decoded.session_id:
        raise DecodeError("the payload does not name its session (session_id)")
    return decoded, native


def rest(payload: bytes) -> str:
    """Returns the fields that only this event has, as JSON: for events that nobody described.

    Raises `DecodeError`: fields that nobody typed were skipped so far, and may hold anything.
    """
    try:
        fields: dict[str, Any] = msgspec.json.decode(payload)
    except JSON_FAULTS as error:
        raise DecodeError(f"not a hook payload: {error}") from error
    own = {key: value for key, value in fields.items() if key not in _COMMON}
    return text(own) if own else ""


def text(value: Any) -> str:
    """Returns the value in words, all of them: a string as it is, nothing for null, else JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


Classes = Mapping[str, ToolClass]

_SHOWN_AS = {"apply_patch": "Edit"}


def describe_tool(name: str, args: dict[str, Any], call_id: str | None, classes: Classes) -> Tool:
    """Returns the canonical tool of a call; `classes` is the agent's table of tool names."""
    cls = classes.get(name)
    display = _SHOWN_AS.get(name, name)
    if cls is None:
        cls, display = _unlisted(name)
    return Tool(
        name=display,
        native_name=name,
        cls=cls,
        input=args,
        input_hash=input_hash(args, cls),
        call_id=call_id,
    )


def _unlisted(name: str) -> tuple[ToolClass, str]:
    server, _, tool = name.removeprefix("mcp__").partition("__")
    if name.startswith("mcp__") and tool:
        return "mcp", f"{server}:{tool}"
    return "other", name


Builder = Callable[[HookPayload, Classes], Body]
Rule = tuple[Kind, Builder | None]
"""The meaning of an agent's event: its kind, and its reader (None: all its fields are kept)."""

PROMPTS = frozenset({"permission_prompt", "elicitation_dialog", "ToolPermission"})
"""Types of notices by which Claude Code, Qwen Code, Copilot and Gemini say that they ask."""

_EXITED = re.compile(r"Exit code (\d{1,3})\b")
_PATCH_FAILED = re.compile(r"Exit code: -?[1-9]")


def call(payload: HookPayload, classes: Classes) -> Body:
    """Returns a call that is about to run, or that was decided elsewhere."""
    return ToolCall(_tool(payload, classes))


def refusal(payload: HookPayload, classes: Classes) -> Body:
    """Returns a call that the agent refused by its own rules."""
    return ToolCall(_tool(payload, classes), why=own_refusal(text(payload.reason)))


def own_refusal(reason: str) -> str:
    """Returns the words for a refusal by an agent's own rules: its reason, where it gives one."""
    return reason or "by its own rules"


def result(payload: HookPayload, classes: Classes) -> Body:
    """Returns a call that ran; Codex reports a failed patch only in the result's first line."""
    tool = _tool(payload, classes)
    response = payload.tool_response
    response_words = response_text(response)
    failed = tool.cls == "edit" and _PATCH_FAILED.match(response_words) is not None
    return ToolResult(
        tool,
        ok=not failed,
        text=response_words,
        took_ms=_took_ms(payload),
        interrupted=isinstance(response, dict) and response.get("interrupted") is True,
    )


def failure(payload: HookPayload, classes: Classes) -> Body:
    """Returns a call that ran and failed; a shell's exit status stands before its output."""
    tool, error_text = _tool(payload, classes), text(payload.error)
    status = _EXITED.match(error_text) if tool.cls == "shell" else None
    return ToolResult(
        tool,
        ok=False,
        text=error_text,
        took_ms=_took_ms(payload),
        interrupted=payload.is_interrupt is True,
        exit_code=int(status[1]) if status else None,
    )


def batch(payload: HookPayload, classes: Classes) -> Body:
    """Returns all calls of one model turn."""
    return ToolBatch(
        tuple(
            describe_tool(each.tool_name, each.tool_input, each.tool_use_id, classes)
            for each in payload.tool_calls
        )
    )


def asks_there(notification_type: object) -> bool:
    """Returns whether a notice of this type says that the agent asks in its own terminal."""
    return isinstance(notification_type, str) and notification_type in PROMPTS


def words(*fields: str) -> Builder:
    """Returns a text made of the named payload fields that are set, joined by a colon."""

    def build(payload: HookPayload, _classes: Classes) -> Body:
        return Text(_joined(payload, fields), asks_there(payload.notification_type))

    return build


def phase(field: str, *details: str) -> Builder:
    """Returns a session change whose word is in a payload field: how it began, why it ended."""

    def build(payload: HookPayload, _classes: Classes) -> Body:
        return _change(payload, text(getattr(payload, field)), details)

    return build


def change(what: str, *details: str) -> Builder:
    """Returns a session change that the event's name alone tells."""

    def build(payload: HookPayload, _classes: Classes) -> Body:
        return _change(payload, what, details)

    return build


def _change(payload: HookPayload, what: str, details: tuple[str, ...]) -> Body:
    path = payload.transcript_path
    model = payload.model
    return SessionChange(
        what=what,
        detail=_joined(payload, details),
        model=model if isinstance(model, str) else None,
        transcript=path if isinstance(path, str) else None,
    )


def _joined(payload: HookPayload, fields: tuple[str, ...]) -> str:
    return ": ".join(part for field in fields if (part := text(getattr(payload, field))))


def _tool(payload: HookPayload, classes: Classes) -> Tool:
    if not payload.tool_name:
        raise DecodeError("the payload does not name its tool (tool_name)")
    return describe_tool(payload.tool_name, payload.tool_input, payload.tool_use_id, classes)


def _took_ms(payload: HookPayload) -> int | None:
    took = payload.duration_ms
    return round(took) if isinstance(took, int | float) else None


def response_text(response: Any) -> str:
    """Returns a tool's result in words: its streams or its text blocks where it has any."""
    if isinstance(response, dict):
        streams = [response.get("stdout"), response.get("stderr")]
        if any(isinstance(stream, str) for stream in streams):
            return text("\n".join(s for s in streams if isinstance(s, str) and s))
        content = response.get("content")
        if isinstance(content, list):
            return text("\n".join(_blocks(content)))
    return text(response)


def _blocks(content: list[Any]) -> list[str]:
    return [b["text"] for b in content if isinstance(b, dict) and isinstance(b.get("text"), str)]
