"""What the inputs of all agents' tools say, whatever they call it."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.tools import tool_input
from watchgate.core.tools.tool_input import input_hash


def tool(cls: ToolClass, **args: Any) -> Tool:
    return Tool("X", "x", cls, args, "h")


@pytest.mark.parametrize(
    ("args", "command"),
    [
        ({"command": "make"}, "make"),
        ({"command": ["git", "commit", "-m", "a b"]}, "git commit -m 'a b'"),
        ({"command_line": "make"}, "make"),
        ({"commands": ["cd a", "make"]}, "cd a\nmake"),
        ({"commands": "make"}, "make"),
        ({"commands": [{"command": "git", "args": ["log", "a b"]}]}, "git log 'a b'"),
        ({"command": "ls", "commands": ["rm -rf /"]}, "ls\nrm -rf /"),
        ({"command": "ls", "command_line": "rm -rf /"}, "ls\nrm -rf /"),
        ({"commands": ["ls", 7]}, None),
        ({"command": "ls", "commands": {"run": "rm"}}, None),
        ({"command": []}, None),
        ({}, None),
    ],
)
def test_every_command_is_seen_or_none(args: dict[str, Any], command: str | None) -> None:
    assert tool_input.command(tool("shell", **args)) == command


@pytest.mark.parametrize(
    ("args", "paths"),
    [
        ({"file_path": "a"}, ("a",)),
        ({"filePath": "a", "path": "b"}, ("a", "b")),
        ({"operations": [{"mode": "Line", "path": "a"}, {"path": "b"}]}, ("a", "b")),
        ({"requests": [{"filePath": "a"}, "b"]}, ("a", "b")),
        ({"files": ["a", {"path": "b"}]}, ("a", "b")),
        ({"include": ["/etc/*"], "dir_path": "d"}, ("d", "/etc/*")),
        ({"path": "a", "patch": "*** Begin Patch\n*** Delete File: /etc/b\n"}, ("a", "/etc/b")),
        ({"input": "*** Begin Patch\n*** Add File: c\n"}, ("c",)),
        ({"path": "a", "edits": [{"path": "a"}]}, ("a",)),
        ({"path": 7, "files": "a"}, ()),
    ],
)
def test_every_file_is_seen(args: dict[str, Any], paths: tuple[str, ...]) -> None:
    assert tool_input.paths(tool("edit", **args)) == paths


@pytest.mark.parametrize(
    ("args", "urls"),
    [
        ({"url": "https://a.example"}, ("https://a.example",)),
        ({"urls": ["https://a.example", "file:///etc"]}, ("https://a.example", "file:///etc")),
        (
            {"prompt": "Sum up https://a.example/x, then http://10.0.0.1"},
            ("https://a.example/x,", "http://10.0.0.1"),
        ),
        ({"url": "https://a.example", "prompt": "unlike http://b.example"}, ("https://a.example",)),
        ({"query": "weather"}, ()),
    ],
)
def test_every_address_is_seen(args: dict[str, Any], urls: tuple[str, ...]) -> None:
    fetch = tool("fetch", **args)

    assert tool_input.urls(fetch) == urls
    assert tool_input.url(fetch) == next(iter(urls), None)


@pytest.mark.parametrize(
    ("args", "counts"),
    [
        ({"path": "a", "file_text": "x\ny\n"}, (2, 0)),
        ({"path": "a", "before": "x", "after": "y\nz"}, (2, 1)),
        ({"command": "str_replace", "old_str": "x\ny", "new_str": ""}, (0, 2)),
        ({"replacements": [{"oldString": "x", "newString": "y"}]}, (1, 1)),
        ({"command": "*** Begin Patch\n*** Update File: a\n-x\n+y\n+z\n"}, (2, 1)),
    ],
)
def test_lines_that_change(args: dict[str, Any], counts: tuple[int, int]) -> None:
    assert tool_input.line_counts(tool("edit", **args)) == counts


def test_the_word_for_a_kind_of_edit_is_no_patch() -> None:
    edit = tool("edit", command="create", path="a", file_text="x")

    assert tool_input.patch(edit) == ""
    assert list(tool_input.replacements(edit)) == [([], ["x"])]


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ({"command": "ls", "timeout": 5}, {"command": "ls"}, True),
        ({"command": "ls", "cwd": ""}, {"command": "ls"}, True),
        ({"command": "ls", "is_background": False}, {"command": "ls"}, True),
        ({"command": "ls", "is_background": True}, {"command": "ls"}, False),
        ({"command": "ls", "cwd": "/a"}, {"command": "ls", "cwd": "/b"}, False),
        ({"command": "ls", "sandbox": False}, {"command": "ls"}, False),
        ({"command": ""}, {}, False),
    ],
)
def test_two_descriptions_of_one_command(
    one: dict[str, Any], other: dict[str, Any], same: bool
) -> None:
    assert (input_hash(one, "shell") == input_hash(other, "shell")) is same


@pytest.mark.parametrize("cls", ["edit", "read", "mcp", "other"])
def test_elsewhere_an_empty_field_counts(cls: ToolClass) -> None:
    assert input_hash({"path": "a", "content": ""}, cls) != input_hash({"path": "a"}, cls)
    assert input_hash({"path": "a", "timeout": 1}, cls) != input_hash({"path": "a"}, cls)
