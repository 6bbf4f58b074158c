"""The answers that Claude Code and Codex accept, byte for byte.

A denial before a tool call is JSON alone on stdout, the reason on stderr, and exit status 2: the
one shape that every measured agent obeys. On permission events only the JSON counts and the status
is 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import msgspec

from watchgate.agents.base import HookAnswer
from watchgate.core.base.text import safe_lines

PRE_TOOL = "PreToolUse"
PERMISSION = "PermissionRequest"
PROMPT = "UserPromptSubmit"
NOTHING = HookAnswer()

_NO_REASON = "Denied by watchgate; no reason was given."


def pre_tool_allow(args: dict[str, Any] | None, words: str = "") -> HookAnswer:
    """Lets the call run, with `args` in place of its own; the model also reads `words`."""
    output: dict[str, Any] = {"hookEventName": PRE_TOOL, "permissionDecision": "allow"}
    if args is not None:
        output["updatedInput"] = args
    if words:
        output["additionalContext"] = spoken(words)
    return HookAnswer(stdout=_output(output))


def pre_tool_deny(reason: str, *, stop: bool = False) -> HookAnswer:
    """Denies the call; Codex ignores a denial whose reason is empty.

    `stop` ends the turn as well: Claude Code obeys it beside a denial, Codex has no such answer.
    """
    reason = spoken(reason)
    output = {
        "hookEventName": PRE_TOOL,
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }
    ending = {"continue": False, "stopReason": reason} if stop else {}
    return HookAnswer(stdout=_output(output, ending), stderr=on_stderr(reason), exit_code=2)


def prompt_deny(reason: str) -> HookAnswer:
    """Denies the prompt; the user reads the reason."""
    answer = {"decision": "block", "reason": spoken(reason)}
    return HookAnswer(stdout=msgspec.json.encode(answer))


def context(native: str, words: str) -> HookAnswer:
    """Returns words for the model to read with the call or the prompt; nothing is decided."""
    if not words:
        return NOTHING
    return HookAnswer(stdout=_output({"hookEventName": native, "additionalContext": spoken(words)}))


def permission_allow(args: dict[str, Any] | None) -> HookAnswer:
    """Spares the agent's question; `args` replace the call's own where they are given."""
    decision: dict[str, Any] = {"behavior": "allow"}
    if args is not None:
        decision["updatedInput"] = args
    return HookAnswer(stdout=_output({"hookEventName": PERMISSION, "decision": decision}))


def permission_deny(reason: str, *, interrupt: bool = False) -> HookAnswer:
    """Denies the call; `interrupt` ends the turn as well (a key that Codex refuses)."""
    decision: dict[str, Any] = {"behavior": "deny", "message": spoken(reason)}
    if interrupt:
        decision["interrupt"] = True
    return HookAnswer(stdout=_output({"hookEventName": PERMISSION, "decision": decision}))


def deny(native: str, reason: str) -> HookAnswer:
    """Returns a denial for an event that may not have been readable: by default of a tool call."""
    return permission_deny(reason) if native == PERMISSION else pre_tool_deny(reason)


def on_stderr(reason: str) -> bytes:
    """Returns the reason as lines for stderr, escaped: JSON escapes what a terminal would obey."""
    return "\n".join(safe_lines(reason)).encode() + b"\n"


def _output(specific: dict[str, Any], extra: Mapping[str, Any] = MappingProxyType({})) -> bytes:
    return msgspec.json.encode({"hookSpecificOutput": specific, **extra})


def spoken(reason: str) -> str:
    """Returns the reason as words that can be told: never empty, and without lone surrogates."""
    # A lone surrogate cannot be encoded, and a denial must not fail for the sake of its reason.
    return reason.encode("utf-8", "replace").decode() if reason.strip() else _NO_REASON
