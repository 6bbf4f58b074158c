"""The exit status of a shell call, where an agent tells it in words only."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.agents.payloads import NOW
from watchgate.agents.base import Intake
from watchgate.agents.registry import adapter
from watchgate.agents.table import EventRule, Fields, Table
from watchgate.agents.table.table_file import table_faults
from watchgate.core.model.events import Lane, ToolResult

COMMAND = {"command": "make lint"}
GEMINI = "Output: Exit Code: 0 is what it should have been\nExit Code: 3\nProcess Group PGID: 7"
RESULTS = [
    ("claude", "PostToolUseFailure", "Bash", {"error": "Exit code 3\nlint failed"}, 3),
    ("claude", "PostToolUseFailure", "Bash", {"error": "no such shell"}, None),
    ("claude", "PostToolUseFailure", "mcp__a__b", {"error": "Exit code 3"}, None),
    ("gemini", "AfterTool", "run_shell_command", {"tool_response": {"llmContent": GEMINI}}, 3),
    ("gemini", "AfterTool", "read_file", {"tool_response": {"llmContent": GEMINI}}, None),
    ("qwen", "PostToolUseFailure", "run_shell_command", {"error": "Exit Code: 3\nSignal: -"}, 3),
    ("qwen", "PostToolUseFailure", "run_shell_command", {"error": "Exit Code: (none)"}, None),
    (
        "copilot",
        "PostToolUse",
        "Bash",
        {"tool_result": {"text_result_for_llm": "<shellId: 0 completed with exit code 3>"}},
        3,
    ),
]


@pytest.mark.parametrize(("agent", "event", "tool", "result", "status"), RESULTS)
def test_the_status_is_read_from_the_last_words_about_it(
    agent: str, event: str, tool: str, result: dict[str, Any], status: int | None
) -> None:
    payload = {
        "hook_event_name": event,
        "session_id": "s",
        "cwd": "/w",
        "tool_name": tool,
        "tool_input": COMMAND,
        **result,
    }
    intake = Intake(lane=Lane.OBSERVE, at=NOW, native=event)
    body = adapter(agent).decode(msgspec.json.encode(payload), intake).body
    assert isinstance(body, ToolResult)
    assert body.exit_code == status


@pytest.mark.parametrize(
    ("pattern", "fault"),
    [
        ("code (", "not a regular expression"),
        ("code [0-9]+", "one group"),
        (r"(?:a+)+b code (\d)", "may take long"),
        (r"\s*\w*\s*code (\d)", "may take long"),
    ],
)
def test_a_pattern_that_finds_no_status_or_takes_long_is_a_fault_of_the_table(
    pattern: str, fault: str
) -> None:
    rule = EventRule(kind="tool.post", fields=Fields(exit_pattern=pattern))
    table = Table(name="nova", title="Nova", events={"after": rule})
    assert [key for key, why in table_faults(table) if fault in why] == [
        "events.after.fields.exit_pattern"
    ]
