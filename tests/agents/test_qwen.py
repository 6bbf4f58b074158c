"""Qwen Code: Claude Code's protocol with tools, ids and limits of its own."""

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
    told,
)
from watchgate.agents.base import HookAnswer
from watchgate.agents.qwen import TABLE
from watchgate.core.model.events import Can, Lane, Text, ToolBatch
from watchgate.core.model.verdicts import Reply

ARGS = {"command": "make", "description": "Build", "is_background": False}


def payload(event: str, mode: str = "default", **more: Any) -> dict[str, Any]:
    return {
        "session_id": "q-1",
        "cwd": "/home/dev/shop",
        "hook_event_name": event,
        "permission_mode": mode,
        "prompt_id": "q-1########0",
        **more,
    }


CALL = payload(
    "PreToolUse",
    tool_name="run_shell_command",
    tool_input=ARGS,
    tool_use_id="toolu_own_1",
    tool_call_id="call_7",
)
ASKED = payload("PermissionRequest", tool_name="run_shell_command", tool_input=ARGS)
DENIED = (
    b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
    b'"permissionDecisionReason":'
)


def test_a_call_goes_by_the_models_id_in_all_its_events() -> None:
    batch = heard(
        "qwen",
        payload(
            "PostToolBatch",
            tool_calls=[
                {
                    "tool_name": "run_shell_command",
                    "tool_input": ARGS,
                    "tool_use_id": "call_7",
                    "tool_call_id": "call_7",
                }
            ],
        ),
    )
    before = heard("qwen", CALL)

    assert before.turn == "q-1########0"
    assert before.tool is not None
    assert isinstance(batch.body, ToolBatch)
    assert before.tool.call_id == batch.body.tools[0].call_id == "call_7"
    assert (before.tool.name, before.tool.native_name) == ("Bash", "run_shell_command")


def test_its_empty_prompt_after_a_tool_has_no_words() -> None:
    assert heard("qwen", payload("UserPromptSubmit", prompt="")).body == Text("")


@pytest.mark.parametrize(
    ("mode", "autonomous", "unasked"),
    [
        ("default", False, False),
        ("plan", False, False),
        ("auto_edit", False, True),
        ("auto", True, True),
        ("yolo", True, True),
    ],
)
def test_modes(mode: str, autonomous: bool, unasked: bool) -> None:
    event = heard("qwen", {**CALL, "permission_mode": mode})

    assert (event.autonomous, event.runs_unasked) == (autonomous, unasked)


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (
            ALLOW,
            HookAnswer(
                b'{"hookSpecificOutput":{"hookEventName":"PreToolUse",'
                b'"permissionDecision":"allow"}}'
            ),
        ),
        (DENY, denied(DENIED + b'"Not \\"here\\"."}}')),
        (STOP, denied(DENIED + b'"Not \\"here\\"."}}')),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told_before_a_call(reply: Reply, answer: HookAnswer) -> None:
    assert told("qwen", CALL, reply) == answer


def test_an_edit_before_a_call_is_denied_because_it_would_run_the_original() -> None:
    answer = told("qwen", CALL, edited(command="make -n"))

    assert answer.stdout.startswith(DENIED)
    assert answer.exit_code == 2


@pytest.mark.parametrize(
    ("reply", "decision"),
    [
        (ALLOW, b'{"behavior":"allow"}'),
        (edited(command="ls"), b'{"behavior":"allow","updatedInput":{"command":"ls"}}'),
        (DENY, b'{"behavior":"deny","message":"Not \\"here\\"."}'),
        (STOP, b'{"behavior":"deny","message":"Not \\"here\\".","interrupt":true}'),
    ],
)
def test_what_it_is_told_to_a_permission(reply: Reply, decision: bytes) -> None:
    output = b'{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":'

    assert told("qwen", ASKED, reply) == HookAnswer(output + decision + b"}}")


def test_a_question_is_no_approval() -> None:
    asked = payload("PermissionRequest", tool_name="ask_user_question", tool_input={"q": "?"})
    event = heard("qwen", asked, lane=Lane.RELAY)

    assert event.kind == "question"
    assert event.can == Can(deny=True, stop=True)
    assert told("qwen", asked, ALLOW) == NOTHING


def test_every_tool_reaches_exactly_one_gate_and_permissions_the_relay() -> None:
    for tool in (*TABLE.classes, "mcp__fs__read_file", "skill", "Read"):
        lanes = [
            lane
            for event, lane, matcher, _ in gates("qwen")
            if event == "PreToolUse" and re.search(matcher or "", tool)
        ]
        assert lanes == ["gate-read" if TABLE.classes.get(tool) == "read" else "gate"], tool
    assert ("PermissionRequest", "relay", None, 86_400) in gates("qwen")
