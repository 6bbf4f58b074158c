"""Cline: a script for each event, whose payload has another name for it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, REASON, STOP, edited, gates, heard, told
from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Lane, ToolResult
from watchgate.core.model.verdicts import Reply, SayNothing
from watchgate.core.tools import tool_input

HEAD: dict[str, Any] = {"taskId": "l-1", "workspaceRoots": ["/home/dev/shop"], "userId": "u"}
CALL: dict[str, Any] = {
    **HEAD,
    "hookName": "tool_call",
    "tool_call": {"id": "c-5", "name": "run_commands", "input": {"commands": ["make", "ls"]}},
}
EXTENSION: dict[str, Any] = {
    **HEAD,
    "hookName": "PreToolUse",
    "preToolUse": {"toolName": "execute_command", "parameters": {"command": "make"}},
}


def test_a_call_of_several_commands() -> None:
    event = heard("cline", CALL, "PreToolUse")

    assert (event.native, event.session, event.cwd) == ("tool_call", "l-1", "/home/dev/shop")
    assert event.tool is not None
    assert (event.tool.name, event.tool.call_id) == ("Bash", "c-5")
    assert tool_input.command(event.tool) == "make\nls"


def test_a_result() -> None:
    result = {"id": "c-5", "name": "read_files", "input": {"filePath": "a.ts"}, "durationMs": 4}
    good = heard("cline", {**HEAD, "hookName": "tool_result", "tool_result": result})
    bad = heard(
        "cline", {**HEAD, "hookName": "tool_result", "tool_result": {**result, "error": "gone"}}
    )

    assert isinstance(good.body, ToolResult)
    assert (good.kind, good.body.took_ms) == ("tool.post", 4)
    assert bad.kind == "tool.error"


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("agent_start", "session.start"),
        ("agent_error", "turn.error"),
        ("agent_abort", "turn.interrupt"),
        ("session_shutdown", "session.end"),
    ],
)
def test_what_else_it_tells(name: str, kind: str) -> None:
    assert heard("cline", {**HEAD, "hookName": name}).kind == kind


@pytest.mark.parametrize(
    ("reply", "stdout"),
    [
        (ALLOW, b"{}"),
        (edited(command="ls"), b'{"overrideInput":{"command":"ls"}}'),
        (DENY, b'{"cancel":true,"errorMessage":"Not \\"here\\"."}'),
        (STOP, b'{"cancel":true,"errorMessage":"Not \\"here\\"."}'),
        (HANDBACK, b"{}"),
        (SayNothing("mind the gap"), b'{"context":"mind the gap"}'),
    ],
)
def test_what_it_is_told(reply: Reply, stdout: bytes) -> None:
    assert told("cline", CALL, reply) == HookAnswer(stdout)


def test_its_extension_cannot_be_told_another_input() -> None:
    assert b"cancel" in told("cline", EXTENSION, edited(command="ls")).stdout


def test_the_gate_fails_closed_within_its_fixed_limit() -> None:
    assert gates("cline") == [("PreToolUse", "gate", None, 30)]
    assert adapter("cline").closed("PreToolUse", Lane.GATE, REASON) == HookAnswer(
        b'{"cancel":true,"errorMessage":"Not \\"here\\"."}'
    )
