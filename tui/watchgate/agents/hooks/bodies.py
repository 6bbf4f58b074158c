"""Builders of event bodies from the fields that Claude Code and Codex share."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from watchgate.agents.base import DecodeError
from watchgate.agents.hooks.payload import HookPayload, text
from watchgate.agents.hooks.tools import Classes, describe
from watchgate.core.events import (
    Body,
    Kind,
    SessionChange,
    Text,
    Tool,
    ToolBatch,
    ToolCall,
    ToolResult,
)

Builder = Callable[[HookPayload, Classes], Body]
Rule = tuple[Kind, Builder | None]
"""What an event of an agent means: its kind, and how to read it (None: keep all its fields)."""

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
            describe(each.tool_name, each.tool_input, each.tool_use_id, classes)
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
    return describe(payload.tool_name, payload.tool_input, payload.tool_use_id, classes)


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
