"""Which hooks are installed, on which lane, and which tools reach them."""

from __future__ import annotations

import re

import pytest

from tests.agents.payloads import FAMILY
from watchgate.agents.base import Adapter, HookEntry
from watchgate.agents.claude import CLASSES
from watchgate.agents.claude import EVENTS as CLAUDE_EVENTS
from watchgate.agents.codex import EVENTS as CODEX_EVENTS
from watchgate.agents.registry import UnknownAgentError, adapter
from watchgate.core.model.events import Lane

TOOLS = [*CLASSES, "mcp__x__Read", "ReadMcpResource", "OfNextYear", "read", "Reader"]


def on(each: Adapter, profile: str, event: str) -> list[HookEntry]:
    return [entry for entry in each.entries(profile) if entry.event == event]


@pytest.mark.parametrize("profile", ["guard", "strict"])
@pytest.mark.parametrize("tool", TOOLS)
def test_every_tool_of_claude_reaches_exactly_one_gate(profile: str, tool: str) -> None:
    reached = [
        entry.lane
        for entry in on(adapter("claude"), profile, "PreToolUse")
        if re.search(entry.matcher or "", tool)
    ]

    assert reached == [Lane.GATE_READ if CLASSES.get(tool) == "read" else Lane.GATE]


@pytest.mark.parametrize("profile", ["guard", "strict"])
def test_every_tool_of_codex_reaches_the_gate(profile: str) -> None:
    gates = on(adapter("codex"), profile, "PreToolUse")

    assert [(entry.lane, entry.matcher) for entry in gates] == [(Lane.GATE, None)]


@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_watch_gates_nothing(each: Adapter) -> None:
    assert [entry.lane for entry in on(each, "watch", "PreToolUse")] == [Lane.OBSERVE]
    assert Lane.GATE not in {entry.lane for entry in each.entries("watch")}


@pytest.mark.parametrize("profile", ["watch", "guard", "strict"])
@pytest.mark.parametrize("each", FAMILY.values(), ids=FAMILY)
def test_the_agent_waits_longest_where_an_operator_may_answer(each: Adapter, profile: str) -> None:
    assert [entry.lane for entry in on(each, profile, "PermissionRequest")] == [Lane.RELAY]
    for entry in each.entries(profile):
        waits = entry.lane is not Lane.OBSERVE
        assert (entry.timeout_s == 86_400) is waits
        assert (entry.status_message is not None) is waits
        assert waits or 1 <= entry.timeout_s <= 5


def test_only_known_events_are_installed() -> None:
    for name, known in (("claude", CLAUDE_EVENTS), ("codex", CODEX_EVENTS)):
        events = [entry.event for entry in adapter(name).entries("guard")]
        assert set(events) <= known.keys() | {"ElicitationResult"}
        assert set(events) >= {"SessionStart", "SessionEnd", "PostToolUse", "Stop"}


@pytest.mark.parametrize("event", ["WorktreeCreate", "PreModelSwitch", "MessageDisplay"])
def test_hooks_that_would_change_what_claude_does_are_left_out(event: str) -> None:
    assert not on(adapter("claude"), "guard", event)


def test_unknown_names_are_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownAgentError, match="acp, claude, cline, codex"):
        adapter("hal")
    with pytest.raises(ValueError, match="watch, guard, strict"):
        adapter("claude").entries("lax")
