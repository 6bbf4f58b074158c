"""The one line that stands for a call."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.secrets.redact import redact
from watchgate.core.tools.summary import in_columns, summary, uncut_fields

PATCH = """*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@
-old
+new
+newer
*** Add File: c.txt
+c
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "cls", "given", "line"),
    [
        ("Bash", "shell", {"command": "ls -l\npwd"}, "ls -l\npwd"),
        ("Bash", "shell", {"command": ["git", "log", "a b"]}, "git log 'a b'"),
        ("Bash", "shell", {}, "Bash"),
        (
            "Edit",
            "edit",
            {"file_path": "a.py", "old_string": "x\ny", "new_string": "x\ny\nz"},
            "a.py  +3 -2",
        ),
        ("Write", "edit", {"file_path": "a.py", "content": "1\n2\n"}, "a.py  +2 -0"),
        (
            "MultiEdit",
            "edit",
            {
                "file_path": "a.py",
                "edits": [
                    {"old_string": "a", "new_string": "b\nc"},
                    {"old_string": "d", "new_string": ""},
                ],
            },
            "a.py  +2 -2",
        ),
        ("NotebookEdit", "edit", {"notebook_path": "n.ipynb", "new_source": "x"}, "n.ipynb  +1 -0"),
        ("apply_patch", "edit", {"command": PATCH}, "src/a.py, src/b.py, c.txt  +3 -1"),
        ("Write", "edit", {}, "Write"),
        ("Read", "read", {"file_path": "a.py"}, "a.py"),
        ("Grep", "read", {"pattern": "def .*", "path": "src"}, "def .* in src"),
        ("Glob", "read", {"pattern": "**/*.py"}, "**/*.py"),
        ("LS", "read", {}, "LS"),
        ("WebFetch", "fetch", {"url": "https://example.org"}, "https://example.org"),
        ("WebSearch", "fetch", {"query": "tide tables"}, "tide tables"),
        ("Agent", "agent", {"description": "Find the bug"}, "Find the bug"),
        (
            "AskUserQuestion",
            "question",
            {"questions": [{"question": "Which store?"}, {"question": "Which checks?"}]},
            "Which store?",
        ),
        ("Elicitation", "question", {"message": "Who are you?"}, "Who are you?"),
        ("AskUserQuestion", "question", {"questions": "odd"}, "AskUserQuestion"),
        ("ExitPlanMode", "plan", {"plan": "\n# Split it\n\n1. Move"}, "Split it"),
        ("ExitPlanMode", "plan", {}, "ExitPlanMode"),
        ("db:query", "mcp", {"sql": "DROP TABLE users"}, "db:query DROP TABLE users"),
        ("db:query", "mcp", {"limit": 5, "sql": "select 1"}, "db:query select 1 limit=5"),
        ("db:tables", "mcp", {}, "db:tables"),
        ("db:tables", "mcp", {"schema": "", "only": None}, "db:tables"),
        (
            "github:merge_pull_request",
            "mcp",
            {"repo": "acme/shop", "number": 1234, "squash": True, "title": "Fix it"},
            "github:merge_pull_request Fix it repo=acme/shop number=1234 squash=true",
        ),
        ("fs:move", "mcp", {"to": "b c", "path": "a"}, 'fs:move a to="b c"'),
        ("x:set", "mcp", {"at": {"k": [1, 2]}}, 'x:set at={"k":[1,2]}'),
        ("x:set", "mcp", {"a": "1 b=2"}, 'x:set a="1 b=2"'),
        ("db:query", "mcp", {"sql": "a where b=2"}, "db:query a where b=2"),
        ("x:set", "mcp", {"sql": "a b=2", "c": 1}, 'x:set "a b=2" c=1'),
        ("x:set", "mcp", {"a=1 b": "x"}, 'x:set "a=1 b"=x'),
        ("Odd", "other", {"path": 3, "command": 4}, "Odd: command=4 path=3"),
    ],
)
def test_each_class_shows_what_matters(
    name: str, cls: ToolClass, given: dict[str, Any], line: str
) -> None:
    assert summary(Tool(name, name, cls, given, "h")) == line


def line(**given: Any) -> str:
    return summary(Tool("db:query", "mcp__db__query", "mcp", given, "h"))


def test_a_long_value_is_told_in_part() -> None:
    assert line(sql="x" * 5_000) == f"db:query {'x' * 1_000}..."
    assert line(note="y" * 5_000) == f"db:query note={'y' * 115}..."
    assert len(line(**{"n" * 9_000: "v" * 9_000})) < 200


def test_of_many_fields_the_first_are_told_and_the_others_counted() -> None:
    many = line(**{f"f{number}": number for number in range(40)})
    assert many.startswith("db:query f0=0 f1=1 ")
    assert many.endswith(" f11=11 +28 more")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"sql": "select 1", "limit": 5, "deep": {"a": 1}}, {"sql", "limit", "deep"}),
        ({"sql": "x" * 5_000, "limit": 5}, {"limit"}),
        ({"note": "y" * 5_000, "empty": ""}, set()),
    ],
)
def test_what_the_line_tells_whole_is_known(given: dict[str, Any], told: set[str]) -> None:
    assert uncut_fields(Tool("db:query", "mcp__db__query", "mcp", given, "h")) == told


@pytest.mark.parametrize("name", ["sql", "note"])
@pytest.mark.parametrize("before", [90, 100, 110, 970, 990])
def test_no_secret_is_cut_so_that_it_is_no_longer_known_for_one(name: str, before: int) -> None:
    token = "ghp_" + "a1B2" * 9
    shown = redact(line(**{name: f"{'x ' * (before // 2)}{token}"}))
    assert "ghp_a1" not in shown


@pytest.mark.parametrize(
    ("tool", "call", "cells", "shown"),
    [
        ("db:query", "db:query select 1", 6, ("db", "query select 1")),
        ("db:query", "db:query select 1", 8, ("db:query", "select 1")),
        ("db:tables", "db:tables", 6, ("db", "tables")),
        ("db:tables", "db:tables", 9, ("db:tables", "db:tables")),
        ("TaskUpdate", "TaskUpdate: id=3", 6, ("TaskUpdate", "id=3")),
        ("TodoRead", "TodoRead", 6, ("TodoRead", "TodoRead")),
        ("Bash", "ls -l", 6, ("Bash", "ls -l")),
        ("bash", "bash -c x", 6, ("bash", "bash -c x")),
        ("Bash", "Bashful", 6, ("Bash", "Bashful")),
        ("", "ls", 6, ("", "ls")),
    ],
)
def test_two_columns_do_not_say_the_same(
    tool: str, call: str, cells: int, shown: tuple[str, str]
) -> None:
    assert in_columns(tool, call, cells) == shown


@pytest.mark.parametrize("edits", ["x", [1, None], [{"new_string": 5}], {"a": 1}])
def test_an_odd_input_is_no_error(edits: Any) -> None:
    assert summary(Tool("Edit", "Edit", "edit", {"path": "a", "edits": edits}, "h")) == "a"
