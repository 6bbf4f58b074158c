"""Codex's hook calls become events."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.payloads import CALL, decoded
from watchgate.agents.codex import EVENTS as EVENTS_OF_CODEX
from watchgate.agents.codex import CodexAdapter
from watchgate.core.model.events import Body, Can, Lane, SessionChange, Text, ToolCall, ToolResult
from watchgate.core.model.verdicts import SayAllow

CODEX = CodexAdapter()
PATCH = "*** Begin Patch\n*** Add File: a\n+a\n*** End Patch\n"


def change(what: str) -> SessionChange:
    return SessionChange(what=what, model="gpt", transcript="/home/dev/t.jsonl")


EVENTS: list[tuple[str, dict[str, Any], str, Body]] = [
    ("SessionStart", {"source": "startup"}, "session.start", change("startup")),
    ("SessionEnd", {"reason": "other"}, "session.end", change("other")),
    ("UserPromptSubmit", {"prompt": "fix it"}, "prompt.submit", Text("fix it")),
    ("Stop", {"last_assistant_message": None}, "turn.end", Text("")),
    ("Interrupt", {}, "turn.interrupt", Text("")),
    ("PreCompact", {"trigger": "auto"}, "compact.pre", change("auto")),
    ("PostCompact", {"trigger": "manual"}, "compact.post", change("manual")),
    ("SubagentStart", {"agent_id": "a", "agent_type": "worker"}, "agent.start", Text("worker")),
    ("SubagentStop", {"agent_id": "a", "last_assistant_message": "ok"}, "agent.stop", Text("ok")),
    ("OfNextYear", {"x": 1}, "notice", Text('{"x":1}')),
]


@pytest.mark.parametrize(("native", "fields", "kind", "body"), EVENTS)
def test_every_event_has_its_kind_and_words(
    native: str, fields: dict[str, Any], kind: str, body: Body
) -> None:
    event = decoded(CODEX, native, model="gpt", **fields)

    assert (event.kind, event.native, event.body) == (kind, native, body)


@pytest.mark.parametrize(
    ("native", "kind", "body"),
    [
        ("PreToolUse", "tool.pre", ToolCall),
        ("PermissionRequest", "tool.permission", ToolCall),
        ("PostToolUse", "tool.post", ToolResult),
    ],
)
def test_events_of_a_call_carry_the_call(native: str, kind: str, body: type[Body]) -> None:
    event = decoded(CODEX, native, turn_id="t-1", **CALL)

    assert (event.kind, type(event.body), event.turn) == (kind, body, "t-1")


def test_the_permission_event_names_the_same_call_as_the_one_before() -> None:
    before = decoded(CODEX, "PreToolUse", **CALL).tool
    described = {"command": "make clean", "description": "it is in the way"}
    asked = decoded(CODEX, "PermissionRequest", tool_name="Bash", tool_input=described).tool

    assert before is not None
    assert asked is not None
    assert before.input_hash == asked.input_hash


@pytest.mark.parametrize(
    ("tool", "response", "ok"),
    [
        ("apply_patch", "Exit code: 0\nOutput:\n", True),
        ("apply_patch", "Exit code: 1\nOutput:\n", False),
        ("Bash", "Exit code: 1\n", True),
        ("Bash", "", True),
    ],
)
def test_a_failed_patch_is_told_from_one_that_worked(tool: str, response: str, ok: bool) -> None:
    fields: dict[str, Any] = {
        "tool_name": tool,
        "tool_input": {"command": PATCH},
        "tool_response": response,
    }

    body = decoded(CODEX, "PostToolUse", **fields).body

    assert isinstance(body, ToolResult)
    assert body.ok is ok


@pytest.mark.parametrize(
    ("mode", "unasked"),
    [("default", False), ("plan", False), ("dontAsk", True), ("bypassPermissions", True)],
)
def test_modes_in_which_nobody_is_asked(mode: str, unasked: bool) -> None:
    gate = decoded(CODEX, "PreToolUse", lane=Lane.GATE, permission_mode=mode, **CALL)
    relay = decoded(CODEX, "PermissionRequest", lane=Lane.RELAY, permission_mode=mode, **CALL)

    assert (gate.autonomous, gate.runs_unasked) == (unasked, unasked)
    assert (relay.autonomous, relay.runs_unasked) == (unasked, False)


def test_what_can_be_told() -> None:
    assert decoded(CODEX, "PreToolUse", lane=Lane.GATE, **CALL).can == Can(deny=True, modify=True)
    assert decoded(CODEX, "PermissionRequest", lane=Lane.RELAY, **CALL).can == Can(
        allow=True, deny=True
    )
    assert decoded(CODEX, "PostToolUse", lane=Lane.OBSERVE, **CALL).can == Can()


UPSTREAM = (
    "PreToolUse PermissionRequest PostToolUse PreCompact PostCompact SessionStart UserPromptSubmit"
    " Stop SubagentStart SubagentStop"
)


def test_cx_60_every_event_of_upstream_codex_has_a_kind_and_a_hook_to_install() -> None:
    assert set(UPSTREAM.split()) <= EVENTS_OF_CODEX.keys()
    assert {entry.event for entry in CODEX.entries("guard")} >= set(UPSTREAM.split())


def test_an_edit_of_its_shell_is_told_with_words_for_the_model() -> None:
    call = decoded(CODEX, "PreToolUse", Lane.GATE, tool_name="Bash", tool_input={"command": "ls"})
    answer = CODEX.answer(call, SayAllow({"command": "ls -l"}, "not what was asked"))

    assert json.loads(answer.stdout)["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "ls -l"},
        "additionalContext": "not what was asked",
    }
