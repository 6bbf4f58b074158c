"""Gemini CLI: its events, what it can be told, its hooks."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.agents.hooked import (
    ALLOW,
    DENY,
    HANDBACK,
    NOTHING,
    STOP,
    denied,
    edited,
    gates,
    heard,
    observing,
    told,
)
from watchgate.agents.base import HookAnswer
from watchgate.agents.gemini import TABLE
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Can, Lane, ToolResult, Usage
from watchgate.core.model.verdicts import Reply


def payload(event: str, **more: Any) -> dict[str, Any]:
    return {
        "session_id": "g-1",
        "transcript_path": "/home/dev/.gemini/t.jsonl",
        "cwd": "/home/dev/shop",
        "hook_event_name": event,
        "timestamp": "2026-11-20T10:00:00Z",
        **more,
    }


CALL = payload(
    "BeforeTool",
    tool_name="run_shell_command",
    tool_input={"command": "make", "description": "Build", "is_background": False},
)


@pytest.mark.parametrize(
    ("native", "name", "cls"),
    [
        ("run_shell_command", "Bash", "shell"),
        ("replace", "Edit", "edit"),
        ("write_file", "Write", "edit"),
        ("search_file_content", "Grep", "read"),
        ("web_fetch", "WebFetch", "fetch"),
        ("mcp_github_create_issue", "github:create_issue", "mcp"),
        ("activate_skill", "activate_skill", "other"),
    ],
)
def test_its_tools(native: str, name: str, cls: str) -> None:
    tool = heard("gemini", payload("BeforeTool", tool_name=native, tool_input={})).tool

    assert tool is not None
    assert (tool.name, tool.native_name, tool.cls) == (name, native, cls)


def test_a_result_with_an_error_is_a_failure() -> None:
    good = heard(
        "gemini",
        {
            **CALL,
            "hook_event_name": "AfterTool",
            "tool_response": {"llmContent": "built", "returnDisplay": ""},
        },
    )
    bad = heard(
        "gemini",
        {
            **CALL,
            "hook_event_name": "AfterTool",
            "tool_response": {"llmContent": "", "error": {"message": "no make"}},
        },
    )

    assert isinstance(good.body, ToolResult)
    assert isinstance(bad.body, ToolResult)
    assert (good.kind, good.body.text) == ("tool.post", "built")
    assert (bad.kind, bad.body.ok, bad.body.text) == ("tool.error", False, "no make")


def test_tokens_are_told_after_each_answer_of_the_model() -> None:
    used = {"promptTokenCount": 900, "candidatesTokenCount": 30, "totalTokenCount": 930}
    event = heard(
        "gemini",
        payload(
            "AfterModel",
            llm_request={"model": "gemini-3", "messages": []},
            llm_response={"usageMetadata": used},
        ),
    )

    assert event.kind == "usage"
    assert event.body == Usage(
        input=900, output=30, model="gemini-3", counts="newest", cached_within=True
    )


def test_thoughts_are_told_beside_the_answer_and_paid_for_as_one() -> None:
    used = {"promptTokenCount": 900, "candidatesTokenCount": 30, "thoughtsTokenCount": 12}
    event = heard("gemini", payload("AfterModel", llm_response={"usageMetadata": used}))

    assert isinstance(event.body, Usage)
    assert (event.body.output, event.body.reasoning) == (42, 12)


def test_its_own_dialog_is_an_unanswerable_permission_about_the_same_call() -> None:
    details = {"type": "exec", "title": "Confirm", "command": "make", "rootCommand": "make"}
    asked = heard(
        "gemini",
        payload(
            "Notification", notification_type="ToolPermission", message="Tool", details=details
        ),
        lane=Lane.GATE,
    )
    before = heard("gemini", CALL)

    assert asked.kind == "tool.permission"
    assert asked.can == Can()
    assert asked.tool is not None
    assert before.tool is not None
    assert (asked.tool.name, asked.tool.input_hash) == ("Bash", before.tool.input_hash)


@pytest.mark.parametrize(
    "more", [{"notification_type": "Idle"}, {"notification_type": "ToolPermission"}]
)
def test_other_notices_stay_notices(more: dict[str, Any]) -> None:
    assert heard("gemini", payload("Notification", message="hm", **more)).kind == "notice"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, NOTHING),
        (
            edited(command="make -n", description="Build", is_background=False),
            HookAnswer(
                b'{"hookSpecificOutput":{"hookEventName":"BeforeTool","tool_input":{"command":'
                b'"make -n","description":"Build","is_background":false}}}'
            ),
        ),
        (DENY, denied(b'{"decision":"deny","reason":"Not \\"here\\"."}')),
        (
            STOP,
            denied(
                b'{"decision":"deny","reason":"Not \\"here\\".","continue":false,'
                b'"stopReason":"Not \\"here\\"."}'
            ),
        ),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("gemini", CALL, reply) == answer


def test_an_allow_is_only_handed_back_and_may_run() -> None:
    event = heard("gemini", CALL, lane=Lane.GATE)

    assert event.can == Can(deny=True, modify=True, stop=True)
    assert event.runs_unasked, "no payload tells of yolo mode"


def test_every_tool_reaches_exactly_one_gate() -> None:
    for tool in (*TABLE.classes, "mcp_fs_read_file", "activate_skill", "read_file2"):
        lanes = [lane for _, lane, matcher, _ in gates("gemini") if re.search(matcher or "", tool)]
        reads = TABLE.classes.get(tool) == "read"
        assert lanes == ["gate-read" if reads else "gate"], tool


def test_of_the_model_events_only_the_one_with_tokens_is_hooked() -> None:
    events = {each.event for each in observing("gemini", "guard")}

    assert events & {"BeforeModel", "AfterModel", "BeforeToolSelection"} == {"AfterModel"}
    setup = adapter("gemini").setup
    assert setup is not None
    assert (setup.unit, setup.comments) == ("ms", True)
