"""Tool names and what makes two calls the same."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.agents.claude import CLASSES as CLAUDE
from watchgate.agents.codex import CLASSES as CODEX
from watchgate.agents.hooks.event_bodies import describe_tool
from watchgate.core.tools.tool_input import input_hash


@pytest.mark.parametrize(
    ("native", "name", "cls"),
    [
        ("Bash", "Bash", "shell"),
        ("Read", "Read", "read"),
        ("NotebookEdit", "NotebookEdit", "edit"),
        ("WebSearch", "WebSearch", "fetch"),
        ("Task", "Task", "agent"),
        ("ExitPlanMode", "ExitPlanMode", "plan"),
        ("mcp__github__create_issue", "github:create_issue", "mcp"),
        ("mcp__odd", "mcp__odd", "other"),
        ("OfNextYear", "OfNextYear", "other"),
        ("", "", "other"),
    ],
)
def test_claudes_tools(native: str, name: str, cls: str) -> None:
    tool = describe_tool(native, {}, None, CLAUDE)

    assert (tool.native_name, tool.name, tool.cls) == (native, name, cls)


def test_codex_patches_are_edits() -> None:
    assert describe_tool("apply_patch", {}, None, CODEX).cls == "edit"
    assert describe_tool("view_image", {}, None, CODEX).cls == "read"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"command": "ls"}, {"command": "ls", "description": "look"}, True),
        ({"a": 1, "b": [{"d": 1, "c": 2}]}, {"b": [{"c": 2, "d": 1}], "a": 1}, True),
        ({"command": "ls"}, {"command": "ls "}, False),
        ({"command": "ls"}, {"command": "ls", "dangerouslyDisableSandbox": True}, False),
        ({"file_path": "/a", "content": "x"}, {"file_path": "/a", "content": "y"}, False),
        ({}, {"command": ""}, False),
        ({"title": "t", "description": "a"}, {"title": "t", "description": "b"}, False),
    ],
)
def test_only_the_description_of_a_command_does_not_count(
    one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    assert (input_hash(one, "shell") == input_hash(other, "shell")) is same
    assert len(input_hash(one, "shell")) == 32


@pytest.mark.parametrize("name", ["mcp__ci__run", "Deploy"])
def test_every_field_of_a_tool_that_is_not_the_agents_own_counts(name: str) -> None:
    one, other = (
        describe_tool(name, {"command": "deploy", "description": where}, None, CLAUDE)
        for where in ("staging", "production")
    )
    assert one.input_hash != other.input_hash
