"""Which files a session has written, or asked to write."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import CWD, HOME
from watchgate.core.model.events import Tool, ToolClass
from watchgate.core.policy.inputs.subject import EVERYTHING, Subject
from watchgate.core.policy.judging.written_files import ChangedFiles


def subject(cls: ToolClass, given: dict[str, Any], session: str = "s1") -> Subject:
    tool = Tool("T", "T", cls, given, "h")
    return Subject(tool=tool, agent="claude", session=session, cwd=CWD, home=HOME)


def changed(cls: ToolClass, given: dict[str, Any]) -> frozenset[str]:
    files = ChangedFiles()
    files.note(subject(cls, given))
    return files.of("claude", "s1")


@pytest.mark.parametrize(
    ("command", "path"),
    [
        ("echo x > package.json", f"{CWD}/package.json"),
        ("cd web && echo x >> package.json", f"{CWD}/web/package.json"),
        ("cat x | tee -a setup.py", f"{CWD}/setup.py"),
        ("sed -i s/a/b/ package.json", f"{CWD}/package.json"),
        ("cp evil/package.json .", f"{CWD}/package.json"),
        ("mv /tmp/p.json ./package.json", f"{CWD}/package.json"),
        ("cp evil/* web", f"{CWD}/web/*"),
        ("sh -c 'echo x > ~/a'", f"{HOME}/a"),
        ("curl -o i.sh https://x.example", f"{CWD}/i.sh"),
        ("npm pkg set scripts.preinstall=x", f"{CWD}/package.json"),
    ],
)
def test_what_a_command_writes_is_remembered(command: str, path: str) -> None:
    assert path in changed("shell", {"command": command})


@pytest.mark.parametrize("command", ["cat package.json", "git status", "grep x < package.json"])
def test_what_a_command_reads_is_not(command: str) -> None:
    assert not changed("shell", {"command": command})


def test_what_a_file_tool_writes_is_remembered_and_what_it_reads_is_not() -> None:
    given = {"file_path": f"{CWD}/a.py", "content": "x"}
    assert changed("edit", given) == {f"{CWD}/a.py"}
    assert changed("read", given) == frozenset()


def test_a_foreign_tool_writes_where_it_is_given_a_text() -> None:
    assert changed("mcp", {"path": "package.json", "content": "x"}) == {f"{CWD}/package.json"}
    assert changed("mcp", {"path": "package.json"}) == frozenset()


def test_sessions_are_told_apart() -> None:
    files = ChangedFiles()
    files.note(subject("edit", {"file_path": "a"}, session="s2"))
    assert files.of("claude", "s1") == frozenset()


def test_of_more_files_than_are_kept_all_count_as_changed() -> None:
    files = ChangedFiles()
    for number in range(1_001):
        files.note(subject("edit", {"file_path": f"f{number}"}))
    assert files.of("claude", "s1") == EVERYTHING
