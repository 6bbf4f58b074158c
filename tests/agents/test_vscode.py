"""Copilot in VS Code: Claude Code's answers for tools with camelCase inputs."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import (
    ALLOW,
    DENY,
    HANDBACK,
    NOTHING,
    STOP,
    denied,
    edited,
    gates,
    heard,
    told,
)
from watchgate.agents.base import HookAnswer
from watchgate.core.model.verdicts import Reply
from watchgate.core.tools import tool_input

CALL: dict[str, Any] = {
    "hook_event_name": "PreToolUse",
    "session_id": "v-1",
    "cwd": "/home/dev/shop",
    "tool_name": "run_in_terminal",
    "tool_input": {"command": "make", "explanation": "Build", "isBackground": False},
    "tool_use_id": "t-4",
}
PRE = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":'
DENIED = PRE + b'"deny","permissionDecisionReason":"Not \\"here\\"."}'


@pytest.mark.parametrize(
    ("native", "args", "name", "paths"),
    [
        ("editFiles", {"files": ["src/a.ts", "src/b.ts"]}, "Edit", ("src/a.ts", "src/b.ts")),
        ("create_file", {"filePath": "/a", "content": "x"}, "Write", ("/a",)),
        (
            "multi_replace_string_in_file",
            {"replacements": [{"filePath": "/a"}, {"filePath": "/b"}]},
            "MultiEdit",
            ("/a", "/b"),
        ),
    ],
)
def test_its_files(native: str, args: dict[str, Any], name: str, paths: tuple[str, ...]) -> None:
    tool = heard("vscode", {**CALL, "tool_name": native, "tool_input": args}).tool

    assert tool is not None
    assert (tool.name, tool_input.paths(tool)) == (name, paths)


def test_older_versions_write_the_common_fields_in_camel_case() -> None:
    event = heard("vscode", {"hookEventName": "Stop", "sessionId": "v-1", "cwd": "/w"})

    assert (event.kind, event.session) == ("turn.end", "v-1")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(PRE + b'"allow"}}')),
        (edited(command="ls"), HookAnswer(PRE + b'"allow","updatedInput":{"command":"ls"}}}')),
        (DENY, denied(DENIED + b"}")),
        (STOP, HookAnswer(DENIED + b',"continue":false,"stopReason":"Not \\"here\\"."}')),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("vscode", CALL, reply) == answer


def test_one_gate_because_it_ignores_matchers() -> None:
    assert gates("vscode") == [("PreToolUse", "gate", None, 86_400)]
