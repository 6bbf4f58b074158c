"""Crush: its own envelope, whose input is laid over the call's."""

from __future__ import annotations

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
from watchgate.core.model.verdicts import Reply, SayNothing

CALL = {
    "event": "PreToolUse",
    "session_id": "u-1",
    "cwd": "/home/dev/shop",
    "tool_name": "bash",
    "tool_input": {"command": "make"},
}


@pytest.mark.parametrize(
    ("native", "name", "cls"),
    [
        ("bash", "Bash", "shell"),
        ("view", "Read", "read"),
        ("multiedit", "MultiEdit", "edit"),
        ("mcp_github_create_pull_request", "github:create_pull_request", "mcp"),
        ("download", "download", "other"),
    ],
)
def test_its_tools(native: str, name: str, cls: str) -> None:
    tool = heard("crush", {**CALL, "tool_name": native}).tool

    assert tool is not None
    assert (tool.name, tool.cls) == (name, cls)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(b'{"decision":"allow"}')),
        (
            edited(command="make -n"),
            HookAnswer(b'{"decision":"allow","updated_input":{"command":"make -n"}}'),
        ),
        (DENY, denied(b'{"decision":"deny","reason":"Not \\"here\\"."}')),
        (STOP, HookAnswer(b'{"halt":true,"reason":"Not \\"here\\"."}')),
        (HANDBACK, NOTHING),
        (SayNothing("mind the gap"), HookAnswer(b'{"context":"mind the gap"}')),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("crush", CALL, reply) == answer


def test_all_tools_go_to_one_gate() -> None:
    assert gates("crush") == [("PreToolUse", "gate", None, 86_400)]
