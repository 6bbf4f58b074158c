"""A call runs where it says, with what it says besides its command."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_tool, rules


@pytest.mark.parametrize("key", ["workdir", "cwd", "dir_path", "directory", "working_dir"])
def test_a_command_is_judged_in_the_folder_that_the_call_names(key: str) -> None:
    given = {"command": "rm policy.toml", key: "/home/ada/.config/watchgate"}
    assert judge_tool("Bash", "shell", given).risk == "critical"
    given = {"command": "cat notes", key: "/home/ada/.ssh"}
    assert judge_tool("Bash", "shell", given).decision == "ask"
    assert judge_tool("Bash", "shell", {"command": "cat notes", key: "src"}).decision == "allow"


def test_a_folder_that_is_no_text_is_never_allowed() -> None:
    assert judge_tool("Bash", "shell", {"command": "ls", "cwd": ["/"]}).opaque


def test_variables_beside_the_command_are_asked_about() -> None:
    found = judge_tool("Bash", "shell", {"command": "ls", "env": {"LD_PRELOAD": "/tmp/x.so"}})
    assert (found.decision, rules(found)) == ("ask", {"policy.env"})
