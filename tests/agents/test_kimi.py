"""Kimi CLI: hooks that can only refuse, and the two requests of its wire protocol."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.agents.hooked import (
    ALLOW,
    DENY,
    HANDBACK,
    NOTHING,
    ON_STDERR,
    edited,
    gates,
    heard,
    told,
)
from watchgate.agents.base import HookAnswer
from watchgate.agents.kimi import TABLE
from watchgate.core.model.events import Can, Lane
from watchgate.core.model.verdicts import Reply


def payload(event: str, **more: Any) -> dict[str, Any]:
    return {"hook_event_name": event, "session_id": "m-1", "cwd": "/home/dev/shop", **more}


CALL = payload("PreToolUse", tool_name="Shell", tool_input={"command": "make"}, tool_call_id="tc-8")
WIRE = {"id": "h-1", "subscription_id": "s-1", "event": "PreToolUse", "target": "Shell"}


def test_a_call() -> None:
    event = heard("kimi", CALL, lane=Lane.GATE)

    assert event.tool is not None
    assert (event.kind, event.tool.name, event.tool.call_id) == ("tool.pre", "Bash", "tc-8")
    assert event.can == Can(deny=True)


@pytest.mark.parametrize(
    ("native", "more", "kind"),
    [
        ("StopFailure", {"error_type": "APIError", "error_message": "429"}, "turn.error"),
        ("SubagentStart", {"agent_name": "coder", "prompt": "do"}, "agent.start"),
        ("PostCompact", {"trigger": "auto"}, "compact.post"),
    ],
)
def test_what_else_it_tells(native: str, more: dict[str, Any], kind: str) -> None:
    assert heard("kimi", payload(native, **more)).kind == kind


@pytest.mark.parametrize(
    ("reply", "answer"),
    [(ALLOW, NOTHING), (edited(command="ls"), None), (DENY, ON_STDERR), (HANDBACK, NOTHING)],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer | None) -> None:
    found = told("kimi", CALL, reply)

    assert found.stdout == b""
    assert found == answer if answer else found.exit_code == 2


def test_a_request_on_its_wire() -> None:
    inner = {"session_id": "m-1", "cwd": "/w", "tool_input": {"command": "make"}}
    request = {**WIRE, "input_data": inner}
    event = heard("kimi", request, "wire:HookRequest")

    assert (event.kind, event.session, event.cwd) == ("tool.pre", "m-1", "/w")
    assert event.tool is not None
    assert (event.tool.name, event.tool.input) == ("Bash", {"command": "make"})
    assert told("kimi", request, ALLOW, "wire:HookRequest") == HookAnswer(b'{"action":"allow"}')
    assert told("kimi", request, DENY, "wire:HookRequest") == HookAnswer(
        b'{"action":"block","reason":"Not \\"here\\"."}'
    )


def test_an_approval_on_its_wire_is_shown() -> None:
    asks = {"id": "r-1", "tool_call_id": "tc-8", "sender": "Shell", "description": "Run `make`"}
    event = heard("kimi", asks, "wire:ApprovalRequest")

    assert event.kind == "tool.permission"
    assert event.tool is not None
    assert (event.tool.cls, event.tool.call_id) == ("shell", "tc-8")


def test_every_tool_reaches_exactly_one_gate_within_ten_minutes() -> None:
    for tool in (*TABLE.classes, "mcp__fs__ReadFile", "Think"):
        lanes = [lane for _, lane, matcher, _ in gates("kimi") if re.search(matcher or "", tool)]
        assert lanes == ["gate-read" if TABLE.classes.get(tool) == "read" else "gate"], tool
    assert {timeout_s for *_, timeout_s in gates("kimi")} == {600}
