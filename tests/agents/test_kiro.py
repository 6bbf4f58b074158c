"""Kiro: no session, no JSON, files under operations."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOTHING, ON_STDERR, gates, heard, told
from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import adapter
from watchgate.core.model.verdicts import Reply
from watchgate.core.tools import tool_input


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {
        "hook_event_name": "preToolUse",
        "cwd": "/home/dev/shop",
        "tool_name": tool,
        "tool_input": args,
    }


def test_what_runs_in_one_folder_is_one_session() -> None:
    spawned = {"hook_event_name": "agentSpawn", "cwd": "/home/dev/shop"}

    assert heard("kiro", spawned).session == heard("kiro", call("fs_read")).session


@pytest.mark.parametrize(
    ("payload", "name", "cls", "paths"),
    [
        (call("execute_bash", command="make"), "Bash", "shell", ()),
        (call("fs_read", operations=[{"mode": "Line", "path": "/a"}]), "Read", "read", ("/a",)),
        (call("fs_write", command="create", path="/b", file_text="x"), "Write", "edit", ("/b",)),
        (call("@postgres/query", sql="SELECT 1"), "postgres:query", "mcp", ()),
    ],
)
def test_its_tools(payload: dict[str, Any], name: str, cls: str, paths: tuple[str, ...]) -> None:
    tool = heard("kiro", payload).tool

    assert tool is not None
    assert (tool.name, tool.cls, tool_input.paths(tool)) == (name, cls, paths)


@pytest.mark.parametrize(
    ("reply", "answer"), [(ALLOW, NOTHING), (DENY, ON_STDERR), (HANDBACK, NOTHING)]
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("kiro", call("execute_bash", command="make"), reply) == answer


def test_all_tools_go_to_one_gate_of_an_agent_of_ours() -> None:
    setup = adapter("kiro").setup

    assert gates("kiro") == [("preToolUse", "gate", None, 86_400)]
    assert setup is not None
    assert (setup.unit, setup.timeout_key, setup.owned) == ("ms", "timeout_ms", True)
    assert "--agent watchgate" in setup.after
