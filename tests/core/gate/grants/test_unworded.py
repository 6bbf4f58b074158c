"""A grant for good speaks of words: what else decides what a command does is asked each time."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import judge_tool
from watchgate.core.gate.grant_rules import proposed
from watchgate.core.model.events import Tool


@pytest.mark.parametrize(
    "given",
    [
        {"command": "npm run build > src/main.py"},
        {"command": "NODE_ENV=production npm run build"},
        {"command": "echo x | npm run build"},
        {"command": "npm run build < in"},
        {"command": "npm run build <<'E'\nx\nE\n"},
        {"command": "npm run build", "workdir": "/home/ada/project/other"},
        {"command": "npm run build", "dangerouslyDisableSandbox": True},
        {"command": "npm run build", "env": {"A": "b"}},
    ],
)
def test_what_does_not_stand_in_the_words_is_not_granted_for_good(given: dict[str, Any]) -> None:
    found = judge_tool("Bash", "shell", given)
    with pytest.raises(ValueError, match=r"depends on more|it also says|risk is decided"):
        proposed(Tool("Bash", "Bash", "shell", given, "h"), found)


def test_limits_and_descriptions_change_nothing_of_that() -> None:
    given = {"command": "npm run build 2>&1 | tail -5", "timeout": 5, "description": "builds"}
    found = judge_tool("Bash", "shell", given)
    assert [rule.text for rule in proposed(Tool("Bash", "Bash", "shell", given, "h"), found)] == [
        "npm run build *"
    ]
