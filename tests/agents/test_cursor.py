"""Cursor: several events about one call, answers that are never empty, and queries."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOTHING, REASON, edited, gates, heard, told
from watchgate.agents.base import HookAnswer
from watchgate.agents.cursor import TABLE
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Lane, ToolCall, Usage
from watchgate.core.model.verdicts import Reply

YES, NO = b'{"permission":"allow"}', b'{"permission":"deny","user_message":"Not \\"here\\"."}'


def payload(event: str, **more: Any) -> dict[str, Any]:
    return {
        "conversation_id": "k-1",
        "generation_id": "gen-4",
        "session_id": "k-1",
        "workspace_roots": ["/home/dev/shop"],
        "hook_event_name": event,
        **more,
    }


CALL = payload(
    "preToolUse",
    tool_name="Shell",
    tool_input={"command": "make", "cwd": "", "timeout": 30000},
    tool_use_id="t-3",
    cwd="",
)
SHELL = payload("beforeShellExecution", command="make", cwd="", sandbox=False)


def test_both_events_before_a_command_are_about_one_call() -> None:
    ran = {**CALL, "hook_event_name": "postToolUse", "tool_input": {"command": "make"}}
    tools = [
        event.tool
        for event in (heard("cursor", CALL), heard("cursor", SHELL), heard("cursor", ran))
    ]

    assert len({(tool.name, tool.cls, tool.input_hash) for tool in tools if tool}) == 1
    assert heard("cursor", SHELL).cwd == "/home/dev/shop"


def test_both_events_before_an_mcp_tool_are_about_one_call() -> None:
    before = heard("cursor", payload("preToolUse", tool_name="MCP:query", tool_input={"q": 1}))
    asks = heard("cursor", payload("beforeMCPExecution", tool_name="query", tool_input='{"q":1}'))

    assert before.tool is not None
    assert asks.tool is not None
    assert (before.tool.name, before.tool.input_hash) == (asks.tool.name, asks.tool.input_hash)
    assert asks.tool.cls == "mcp"


@pytest.mark.parametrize("native", ["afterShellExecution", "afterMCPExecution", "afterFileEdit"])
def test_what_ran_is_told_once(native: str) -> None:
    assert heard("cursor", payload(native, command="make")).kind == "notice"


def test_a_refused_call_did_not_fail() -> None:
    failed = payload("postToolUseFailure", tool_name="Read", tool_input={"file_path": "a"})
    refused = heard("cursor", {**failed, "failure_type": "permission_denied", "error_message": "x"})

    assert refused.kind == "tool.permission.resolved"
    assert isinstance(refused.body, ToolCall)
    assert heard("cursor", {**failed, "failure_type": "error"}).kind == "tool.error"


@pytest.mark.parametrize(
    ("status", "kind"),
    [("completed", "turn.end"), ("aborted", "turn.interrupt"), ("error", "turn.error")],
)
def test_how_a_turn_ends(status: str, kind: str) -> None:
    assert heard("cursor", payload("stop", status=status)).kind == kind


def test_tokens() -> None:
    used = {"input_tokens": 9, "output_tokens": 3, "cache_read_tokens": 2, "cache_write_tokens": 0}
    event = heard("cursor", payload("afterAgentResponse", text="ok", model="m", **used))

    assert event.body == Usage(input=9, output=3, cache_read=2, cache_write=0, model="m")


@pytest.mark.parametrize(
    ("reply", "stdout"),
    [
        (ALLOW, YES),
        (edited(command="ls"), b'{"permission":"allow","updated_input":{"command":"ls"}}'),
        (DENY, NO),
        (HANDBACK, YES),
    ],
)
def test_what_it_is_told_before_a_tool(reply: Reply, stdout: bytes) -> None:
    assert told("cursor", CALL, reply) == HookAnswer(stdout)


@pytest.mark.parametrize(("reply", "stdout"), [(ALLOW, YES), (DENY, NO), (HANDBACK, YES)])
def test_what_it_is_told_before_a_command(reply: Reply, stdout: bytes) -> None:
    assert told("cursor", SHELL, reply) == HookAnswer(stdout)


def test_a_handback_there_is_an_allow_and_counts_as_one() -> None:
    assert heard("cursor", SHELL, lane=Lane.GATE).runs_unasked


def test_it_is_never_answered_with_nothing_where_that_would_block() -> None:
    cursor = adapter("cursor")

    assert cursor.closed("preToolUse", Lane.GATE, REASON) == HookAnswer(NO)
    assert cursor.closed("preToolUse", Lane.GATE_READ, REASON) == HookAnswer(YES)


def test_a_query_of_its_command_line_is_approved_by_repeating_it() -> None:
    query = {
        "type": "interaction_query",
        "subtype": "request",
        "query_type": "shellRequestQuery",
        "query": {"id": 7, "shellRequestQuery": {"args": {"command": "make"}}},
    }
    event = heard("cursor", query)

    assert event.tool is not None
    assert (event.kind, event.tool.name, event.tool.input["command"]) == (
        "tool.permission",
        "Bash",
        "make",
    )
    assert told("cursor", query, ALLOW) == HookAnswer(
        b'{"type":"interaction_query","subtype":"response","query_type":"shellRequestQuery",'
        b'"response":{"id":7,"shellRequestResponse":{"approved":{}}}}'
    )
    for reply in (DENY, HANDBACK, edited(command="ls")):
        assert told("cursor", query, reply) == NOTHING


def test_every_tool_reaches_one_gate_in_general_and_commands_and_mcp_tools_one_more() -> None:
    for tool in (*TABLE.classes, "MCP:query", "OfNextYear", "Reader"):
        lanes = [
            lane
            for event, lane, matcher, _ in gates("cursor")
            if event == "preToolUse" and re.search(matcher or "", tool)
        ]
        assert lanes == ["gate-read" if TABLE.classes.get(tool) == "read" else "gate"], tool
    for event in ("beforeShellExecution", "beforeMCPExecution"):
        assert (event, "gate", None, 86_400) in gates("cursor")
    setup = adapter("cursor").setup
    assert setup is not None
    assert setup.closing == {"failClosed": True}


def test_a_command_in_another_folder_is_one_call_in_all_its_events() -> None:
    args = {"command": "make", "cwd": "/home/dev/shop/api", "timeout": 30000}
    after = {"tool_input": {"command": "make"}, "tool_output": "", "tool_use_id": "t-3"}
    events = (
        heard("cursor", {**CALL, "tool_input": args}),
        heard("cursor", {**SHELL, "cwd": "/home/dev/shop/api"}),
        heard("cursor", payload("postToolUse", tool_name="Shell", **after)),
    )

    assert len({event.tool.input_hash for event in events if event.tool}) == 1
    assert events[0].tool is not None
    assert events[0].tool.input == args
    other = heard("cursor", {**SHELL, "command": "make clean"})
    assert other.tool is not None
    assert other.tool.input_hash != events[0].tool.input_hash
