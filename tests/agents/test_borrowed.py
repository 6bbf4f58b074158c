"""Whose payload it is, where one agent runs the hooks of another's configuration."""

from __future__ import annotations

import json
from typing import Any

import pytest

from watchgate.agents.agent_facts import resolve_agent
from watchgate.agents.registry import ADAPTERS

COPILOT = {
    "hook_event_name": "PreToolUse",
    "session_id": "s1",
    "timestamp": "2026-11-20T10:00:00.000Z",
    "cwd": "/srv/app",
    "tool_name": "Bash",
    "tool_input": {"command": "make"},
}
COPILOT_ASKS = {"hookName": "permissionRequest", "sessionId": "s1", "toolName": "bash"}
CURSOR = {"conversation_id": "c1", "cursor_version": "3.9.16", "hook_event_name": "preToolUse"}
CLAUDE = {
    "hook_event_name": "PreToolUse",
    "session_id": "s1",
    "transcript_path": "/home/dev/t.jsonl",
    "cwd": "/srv/app",
    "permission_mode": "default",
    "tool_name": "Bash",
    "tool_input": {"command": "make", "sessionId": 1, "cursor_version": 2},
    "tool_use_id": "toolu_1",
}
VSCODE = {**COPILOT, "tool_name": "run_in_terminal", "tool_use_id": "tu-1"}
IN_COPILOT = {"COPILOT_CLI": "1"}
IN_CURSOR = {"CURSOR_VERSION": "3.9.16"}


@pytest.mark.parametrize(
    ("payload", "env", "speaks"),
    [
        (COPILOT, IN_COPILOT, "copilot"),
        (COPILOT_ASKS, {}, "copilot"),
        (COPILOT_ASKS, IN_COPILOT, "copilot"),
        (VSCODE, {}, "vscode"),
        (VSCODE, IN_COPILOT, "vscode"),
        (CURSOR, {}, "cursor"),
        (CURSOR, IN_CURSOR, "cursor"),
        (CURSOR, {**IN_COPILOT, **IN_CURSOR}, "cursor"),
        (CLAUDE, {}, "claude"),
        (CLAUDE, IN_COPILOT, "claude"),
        (CLAUDE, {**IN_COPILOT, **IN_CURSOR}, "claude"),
    ],
)
def test_the_shape_of_the_payload_says_who_speaks(
    payload: dict[str, Any], env: dict[str, str], speaks: str
) -> None:
    assert resolve_agent("claude", json.dumps(payload).encode(), env, ADAPTERS) == speaks


@pytest.mark.parametrize("payload", [b"", b"[]", b'{"sessionId"', b"\xff", b"[" * 3000])
def test_what_cannot_be_read_is_of_the_agent_that_the_command_names(payload: bytes) -> None:
    assert resolve_agent("claude", payload, IN_COPILOT, ADAPTERS) == "claude"


@pytest.mark.parametrize("agent", ["codex", "gemini", "unheard-of", "copilot"])
def test_only_those_hooks_are_borrowed_that_another_agent_loads(agent: str) -> None:
    payload = json.dumps(COPILOT_ASKS).encode()

    assert resolve_agent(agent, payload, IN_COPILOT, ADAPTERS) == agent
