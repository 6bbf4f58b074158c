"""Upstream codex: the shapes that its hooks may print.

Source of the wire format: the output schemas of openai/codex, codex-rs/hooks. A key that a schema
does not name makes the whole answer invalid.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec

EventName = Literal[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "SubagentStart",
    "SubagentStop",
]


class _Strict(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename="camel"
):
    pass


class Decision(_Strict, frozen=True):
    """`decision` of a PermissionRequest answer; the last three are reserved."""

    behavior: Literal["allow", "deny"]
    message: str | None = None
    updated_input: Any = None
    updated_permissions: Any = None
    interrupt: bool = False


class PermissionOutput(_Strict, frozen=True):
    """`hookSpecificOutput` of a PermissionRequest answer."""

    hook_event_name: EventName
    decision: Decision | None = None


class ToolOutput(_Strict, frozen=True):
    """`hookSpecificOutput` of a PreToolUse answer."""

    hook_event_name: EventName
    permission_decision: Literal["allow", "deny", "ask"] | None = None
    permission_decision_reason: str | None = None
    updated_input: Any = None
    additional_context: str | None = None


class ContextOutput(_Strict, frozen=True):
    """`hookSpecificOutput` of the other answers."""

    hook_event_name: EventName
    additional_context: str | None = None
    updated_tool_output: Any = None
    updated_mcp_tool_output: Any = msgspec.field(name="updatedMCPToolOutput", default=None)


class Universal(_Strict, frozen=True):
    """The fields of every answer."""

    continue_: bool = msgspec.field(name="continue", default=True)
    stop_reason: str | None = None
    suppress_output: bool = False
    system_message: str | None = None


class PermissionAnswer(Universal, frozen=True):
    """The answer of a PermissionRequest hook."""

    hook_specific_output: PermissionOutput | None = None


class ToolAnswer(Universal, frozen=True):
    """The answer of a PreToolUse hook; `decision` and `reason` are its older form."""

    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    hook_specific_output: ToolOutput | None = None


class OtherAnswer(Universal, frozen=True):
    """The answer of the hooks of all other events."""

    decision: Literal["block"] | None = None
    reason: str | None = None
    hook_specific_output: ContextOutput | None = None
