"""Windsurf: the event's name tells the tool."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOTHING, ON_STDERR, gates, heard, told
from watchgate.agents.base import HookAnswer
from watchgate.core.model.verdicts import Reply
from watchgate.core.tools import tool_input


def payload(event: str, **info: Any) -> dict[str, Any]:
    return {
        "agent_action_name": event,
        "trajectory_id": "w-1",
        "execution_id": "e-2",
        "tool_info": info,
    }


COMMAND = payload("pre_run_command", command_line="make", cwd="/home/dev/shop")


@pytest.mark.parametrize(
    ("fields", "kind", "name", "cls"),
    [
        (COMMAND, "tool.pre", "Bash", "shell"),
        (payload("post_run_command", command_line="make"), "tool.post", "Bash", "shell"),
        (payload("pre_read_code", file_path="/a"), "tool.pre", "Read", "read"),
        (payload("pre_write_code", file_path="/a", edits=[]), "tool.pre", "Edit", "edit"),
        (
            payload("pre_mcp_tool_use", mcp_server_name="gh", mcp_tool_name="list"),
            "tool.pre",
            "gh:list",
            "mcp",
        ),
    ],
)
def test_its_tools(fields: dict[str, Any], kind: str, name: str, cls: str) -> None:
    event = heard("windsurf", fields)

    assert (event.kind, event.session, event.turn) == (kind, "w-1", "e-2")
    assert event.tool is not None
    assert (event.tool.name, event.tool.cls) == (name, cls)


def test_what_a_call_says() -> None:
    command = heard("windsurf", COMMAND)
    edit = heard(
        "windsurf",
        payload(
            "pre_write_code", file_path="/a", edits=[{"old_string": "x", "new_string": "y\nz"}]
        ),
    )

    assert command.tool is not None
    assert edit.tool is not None
    assert (command.cwd, tool_input.command(command.tool)) == ("/home/dev/shop", "make")
    assert (tool_input.paths(edit.tool), tool_input.line_counts(edit.tool)) == (("/a",), (2, 1))


@pytest.mark.parametrize(
    ("reply", "answer"), [(ALLOW, NOTHING), (DENY, ON_STDERR), (HANDBACK, NOTHING)]
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("windsurf", COMMAND, reply) == answer


def test_what_acts_is_gated_and_what_reads_apart() -> None:
    assert gates("windsurf") == [
        ("pre_run_command", "gate", None, 30),
        ("pre_write_code", "gate", None, 30),
        ("pre_mcp_tool_use", "gate", None, 30),
        ("pre_read_code", "gate-read", None, 30),
    ]
