"""Goose: a denial is words and an exit status; its matchers say nothing."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import ALLOW, DENY, HANDBACK, NOTHING, ON_STDERR, STOP, gates, heard, told
from tests.core.world import World
from watchgate.agents.base import HookAnswer
from watchgate.agents.registry import adapter
from watchgate.core.model.events import Lane
from watchgate.core.model.verdicts import Reply


def payload(event: str, **more: Any) -> dict[str, Any]:
    return {"event": event, "session_id": "o-1", **more}


CALL = payload(
    "PreToolUse",
    matcher_context="developer__shell",
    tool_name="developer__shell",
    tool_input={"command": "make"},
    tool_call_id="c-2",
    working_dir="/home/dev/shop",
)


def test_a_call() -> None:
    event = heard("goose", CALL)

    assert (event.kind, event.cwd, event.session) == ("tool.pre", "/home/dev/shop", "o-1")
    assert event.tool is not None
    assert (event.tool.name, event.tool.cls, event.tool.call_id) == ("Bash", "shell", "c-2")


@pytest.mark.parametrize(
    ("native", "name", "cls"),
    [
        ("developer__edit", "Edit", "edit"),
        ("developer__tree", "LS", "read"),
        ("github__create_issue", "github:create_issue", "mcp"),
    ],
)
def test_its_tools(native: str, name: str, cls: str) -> None:
    tool = heard("goose", {**CALL, "tool_name": native}).tool

    assert tool is not None
    assert (tool.name, tool.cls) == (name, cls)


def test_the_end_of_its_hooks_is_told() -> None:
    ended = {**CALL, "event": "PreToolUseResult", "decision": "deny", "blocked_by": "watchgate"}

    assert heard("goose", ended).kind == "tool.permission.resolved"


def test_that_its_hooks_let_a_call_run_is_not_its_end() -> None:
    world = World()
    for kind, lane in (
        ("PreToolUse", Lane.GATE),
        ("PreToolUseResult", Lane.OBSERVE),
        ("PostToolUse", Lane.OBSERVE),
    ):
        more: dict[str, Any] = {"tool_input": {"command": "low make"}}
        if kind == "PreToolUseResult":
            more["decision"] = "allow"
        world.send(heard("goose", {**CALL, "event": kind, **more}, lane=lane), 1)

    assert world.all("effect.ungated") == []
    assert world.all("notice") != []


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        (ALLOW, HookAnswer(b'{"decision":"allow"}')),
        (DENY, ON_STDERR),
        (STOP, ON_STDERR),
        (HANDBACK, NOTHING),
    ],
)
def test_what_it_is_told(reply: Reply, answer: HookAnswer) -> None:
    assert told("goose", CALL, reply) == answer


def test_all_tools_go_to_one_gate_that_fails_closed() -> None:
    setup = adapter("goose").setup

    assert gates("goose") == [("PreToolUse", "gate", None, 86_400)]
    assert setup is not None
    assert setup.closing == {"on_failure": "block"}
