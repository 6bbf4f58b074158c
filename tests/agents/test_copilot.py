"""Copilot CLI: its two spellings of every event, its answers, its hooks."""

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
from watchgate.agents.copilot import TABLE
from watchgate.core.model.events import Text, ToolResult
from watchgate.core.model.verdicts import Reply, SayAllow

HEAD: dict[str, Any] = {"sessionId": "c-9", "timestamp": 1795300000000, "cwd": "/home/dev/shop"}
CALL: dict[str, Any] = {
    **HEAD,
    "toolName": "bash",
    "toolArgs": {"command": "make lint", "description": "Look for faults"},
}
ASKED: dict[str, Any] = {
    **HEAD,
    "hookName": "permissionRequest",
    "toolName": "bash",
    "toolInput": {"command": "make lint"},
    "permissionSuggestions": [],
}
PASCAL: dict[str, Any] = {
    "hook_event_name": "PreToolUse",
    "session_id": "c-9",
    "cwd": "/home/dev/shop",
    "tool_name": "Bash",
    "tool_input": {"command": "make lint", "description": "Look for faults"},
}
PRE_DENY = b'{"permissionDecision":"deny","permissionDecisionReason":"Not \\"here\\"."}'


def test_the_hooks_command_names_events_whose_payload_does_not() -> None:
    event = heard("copilot", CALL, "preToolUse")

    assert (event.kind, event.native, event.session) == ("tool.pre", "preToolUse", "c-9")
    assert event.tool is not None
    assert (event.tool.name, event.tool.native_name, event.tool.cls) == ("Bash", "bash", "shell")
    assert event.tool.input == CALL["toolArgs"]
    assert event.tool.call_id is None


def test_all_three_lanes_of_one_call_are_about_the_same() -> None:
    found = {
        event.tool.name + event.tool.input_hash
        for event in (
            heard("copilot", CALL, "preToolUse"),
            heard("copilot", ASKED, "permissionRequest"),
            heard("copilot", PASCAL),
        )
        if event.tool
    }

    assert len(found) == 1


def test_the_permission_event_comes_for_every_call() -> None:
    # It keeps its own shape also where it was registered in PascalCase.
    for native in ("permissionRequest", "PermissionRequest"):
        event = heard("copilot", ASKED, native)
        assert (event.kind, event.asks_every_call) == ("tool.permission", True)
    assert not heard("copilot", CALL, "preToolUse").asks_every_call


@pytest.mark.parametrize(
    ("native", "more", "kind", "words"),
    [
        ("userPromptSubmitted", {"prompt": "fix it"}, "prompt.submit", "fix it"),
        ("agentStop", {"stopReason": "end_turn"}, "turn.end", "end_turn"),
        ("errorOccurred", {"error": {"message": "no net"}}, "turn.error", "no net"),
        ("subagentStart", {"agentName": "explore"}, "agent.start", "explore"),
        ("notification", {"title": "Permission needed", "message": "ls"}, "notice", None),
    ],
)
def test_what_else_it_tells(
    native: str, more: dict[str, Any], kind: str, words: str | None
) -> None:
    event = heard("copilot", {**HEAD, **more}, native)

    assert event.kind == kind
    assert words is None or event.body == Text(words)


def test_results() -> None:
    done = {**CALL, "toolResult": {"resultType": "success", "textResultForLlm": "0 faults"}}
    good = heard("copilot", done, "postToolUse")
    bad = heard("copilot", {**CALL, "error": "exit 2"}, "postToolUseFailure")

    assert isinstance(good.body, ToolResult)
    assert isinstance(bad.body, ToolResult)
    assert (good.kind, good.body.ok, good.body.text) == ("tool.post", True, "0 faults")
    assert (bad.kind, bad.body.ok, bad.body.text) == ("tool.error", False, "exit 2")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(b'{"permissionDecision":"allow"}')),
        (
            edited(command="make -n lint"),
            HookAnswer(b'{"permissionDecision":"allow","modifiedArgs":{"command":"make -n lint"}}'),
        ),
        (
            SayAllow({"command": "ls"}, "not what was asked"),
            HookAnswer(
                b'{"permissionDecision":"allow","modifiedArgs":{"command":"ls"},'
                b'"additionalContext":"not what was asked"}'
            ),
        ),
        (DENY, denied(PRE_DENY)),
        (STOP, denied(PRE_DENY)),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told_before_a_call(reply: Reply, answer: HookAnswer) -> None:
    assert told("copilot", CALL, reply, "preToolUse") == answer


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, b'{"behavior":"allow"}'),
        (DENY, b'{"behavior":"deny","message":"Not \\"here\\"."}'),
        (STOP, b'{"behavior":"deny","message":"Not \\"here\\".","interrupt":true}'),
        (HANDBACK, b""),
    ],
)
def test_what_it_is_told_to_a_permission(reply: Reply, answer: bytes) -> None:
    assert told("copilot", ASKED, reply) == HookAnswer(answer)


def test_a_claude_hook_that_it_runs_gets_claudes_shape() -> None:
    assert told("copilot", PASCAL, DENY) == denied(
        b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny",'
        b'"permissionDecisionReason":"Not \\"here\\"."}}'
    )
    assert told("copilot", PASCAL, ALLOW) == HookAnswer(
        b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}'
    )


def test_every_tool_reaches_exactly_one_gate() -> None:
    for tool in (*TABLE.classes, "report_intent", "github-list_issues", "viewer", "View"):
        # Copilot wants a pattern to match the whole name.
        lanes = [
            lane
            for event, lane, matcher, _ in gates("copilot")
            if re.fullmatch(matcher or "", tool) and event == "preToolUse"
        ]
        reads = tool in ("view", "grep", "rg", "glob")
        assert lanes == ["gate-read" if reads else "gate"], tool


def test_its_permission_event_is_not_hooked() -> None:
    for profile in ("watch", "guard", "strict"):
        assert "permissionRequest" not in {each.event for each in observing("copilot", profile)}
    assert {event for event, *_ in gates("copilot")} == {"preToolUse"}
    assert gates("copilot", "watch") == []
