"""What each event that takes JSON accepts, key by key; nothing else may be printed there."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

Word = str | UnsetType
Args = dict[str, Any] | UnsetType
Yes = Literal[True] | UnsetType
No = Literal[False] | UnsetType
Verdict = Literal["allow", "deny"]


class _Shape(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Nothing but what is declared."""


class _Snake(msgspec.Struct, forbid_unknown_fields=True):
    """The same, in snake case."""


class _Ending(
    msgspec.Struct,
    forbid_unknown_fields=True,
    kw_only=True,
    rename={
        "hook_specific_output": "hookSpecificOutput",
        "continues": "continue",
        "stop_reason": "stopReason",
    },
):
    """An answer that may end the turn."""

    continues: No = UNSET
    stop_reason: Word = UNSET


class _PreTool(_Shape):
    hook_event_name: Literal["PreToolUse"]
    permission_decision: Verdict | UnsetType = UNSET
    permission_decision_reason: Word = UNSET
    updated_input: Args = UNSET
    additional_context: Word = UNSET


class ClaudePreTool(_Ending):
    hook_specific_output: _PreTool


class _Decision(_Shape):
    behavior: Verdict
    message: Word = UNSET
    updated_input: Args = UNSET
    interrupt: Yes = UNSET


class _Permission(_Shape):
    hook_event_name: Literal["PermissionRequest"]
    decision: _Decision


class ClaudePermission(_Shape):
    hook_specific_output: _Permission


class CopilotPreTool(_Shape):
    permission_decision: Verdict
    permission_decision_reason: Word = UNSET
    modified_args: Args = UNSET


class CopilotPermission(_Shape):
    behavior: Verdict
    message: Word = UNSET
    interrupt: Yes = UNSET


class _BeforeTool(
    msgspec.Struct, forbid_unknown_fields=True, rename={"hook_event_name": "hookEventName"}
):
    hook_event_name: Literal["BeforeTool"]
    tool_input: dict[str, Any]


class GeminiBeforeTool(_Ending):
    decision: Literal["deny"] | UnsetType = UNSET
    reason: Word = UNSET
    hook_specific_output: _BeforeTool | UnsetType = UNSET


class CursorPermission(_Snake):
    permission: Verdict
    user_message: Word = UNSET
    updated_input: Args = UNSET


class CursorPrompt(msgspec.Struct, forbid_unknown_fields=True, rename={"continues": "continue"}):
    continues: bool
    user_message: Word = UNSET


class GooseDecision(_Snake):
    decision: Literal["allow"]


class CrushDecision(_Snake):
    decision: Verdict | UnsetType = UNSET
    reason: Word = UNSET
    halt: Yes = UNSET
    updated_input: Args = UNSET
    context: Word = UNSET


class ClineControl(_Shape):
    cancel: Yes = UNSET
    error_message: Word = UNSET
    override_input: Args = UNSET
    context: Word = UNSET


class KimiWire(_Snake):
    action: Literal["allow", "block"]
    reason: Word = UNSET


OUTPUTS: dict[tuple[str, str], type] = {
    ("copilot", "preToolUse"): CopilotPreTool,
    ("copilot", "PreToolUse"): ClaudePreTool,
    ("copilot", "permissionRequest"): CopilotPermission,
    ("copilot", "PermissionRequest"): CopilotPermission,
    ("gemini", "BeforeTool"): GeminiBeforeTool,
    ("qwen", "PreToolUse"): ClaudePreTool,
    ("qwen", "PermissionRequest"): ClaudePermission,
    ("cursor", "preToolUse"): CursorPermission,
    ("cursor", "beforeShellExecution"): CursorPermission,
    ("cursor", "beforeMCPExecution"): CursorPermission,
    ("cursor", "beforeReadFile"): CursorPermission,
    ("cursor", "subagentStart"): CursorPermission,
    ("cursor", "beforeSubmitPrompt"): CursorPrompt,
    ("goose", "PreToolUse"): GooseDecision,
    ("kimi", "wire:HookRequest"): KimiWire,
    ("crush", "PreToolUse"): CrushDecision,
    ("droid", "PreToolUse"): ClaudePreTool,
    ("cline", "tool_call"): ClineControl,
    ("cline", "PreToolUse"): ClineControl,
    ("vscode", "PreToolUse"): ClaudePreTool,
}
"""By agent and event; the others take an exit status alone."""
