"""The one line that stands for a call."""

from __future__ import annotations

from typing import Any

import pytest

from watchgate.core.events import Tool, ToolClass
from watchgate.core.summary import summary

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
        ("mcp__db__query", "mcp", {"sql": "select 1"}, "mcp__db__query"),
        ("Odd", "other", {"path": 3, "command": 4}, "Odd"),
    ],
)
def test_each_class_shows_what_matters(
    name: str, cls: ToolClass, given: dict[str, Any], line: str
) -> None:
    assert summary(Tool(name, name, cls, given, "h")) == line


@pytest.mark.parametrize("edits", ["x", [1, None], [{"new_string": 5}], {"a": 1}])
def test_an_odd_input_is_no_error(edits: Any) -> None:
    assert summary(Tool("Edit", "Edit", "edit", {"path": "a", "edits": edits}, "h")) == "a"
