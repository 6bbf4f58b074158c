"""Factory Droid: Claude Code's answers, fields of its own."""

from __future__ import annotations

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
from watchgate.core.model.verdicts import Reply

CALL: dict[str, Any] = {
    "sessionId": "d-1",
    "transcriptPath": "/home/dev/.factory/t.jsonl",
    "cwd": "/home/dev/shop",
    "permissionMode": "off",
    "hookEventName": "PreToolUse",
    "tool_name": "Execute",
    "tool_input": {"command": "make"},
}
PRE = b'{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":'
DENIED = PRE + b'"deny","permissionDecisionReason":"Not \\"here\\"."}'


@pytest.mark.parametrize(
    ("mode", "unasked"),
    [("off", False), ("spec", False), ("auto-low", True), ("auto-high", True)],
)
def test_a_call_in_its_modes(mode: str, unasked: bool) -> None:
    event = heard("droid", {**CALL, "permissionMode": mode})

    assert (event.session, event.mode, event.runs_unasked) == ("d-1", mode, unasked)
    assert event.autonomous is unasked
    assert event.tool is not None
    assert (event.tool.name, event.tool.native_name) == ("Bash", "Execute")


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(PRE + b'"allow"}}')),
        (edited(command="ls"), HookAnswer(PRE + b'"allow","updatedInput":{"command":"ls"}}}')),
        (DENY, denied(DENIED + b"}")),
        # Beside exit status 2 it would read no JSON, and the turn would go on.
        (STOP, HookAnswer(DENIED + b',"continue":false,"stopReason":"Not \\"here\\"."}')),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("droid", CALL, reply) == answer


def test_all_tools_go_to_one_gate() -> None:
    assert gates("droid") == [("PreToolUse", "gate", None, 86_400)]
