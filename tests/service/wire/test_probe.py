"""The doctor's own call is known by every word of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.core.builders import START
from watchgate.agents.base import Intake
from watchgate.agents.registry import ADAPTERS
from watchgate.core.model.events import Event, Lane
from watchgate.service.doctor.probe_call import probe_payload
from watchgate.service.wire import framing


def event(agent: str, lane: Lane, tool: str, **other: Any) -> Event:
    fields = {
        "session_id": framing.PROBE_SESSION,
        "hook_event_name": "PreToolUse",
        "cwd": "/srv/app",
        "tool_name": tool,
        "tool_input": {"file_path": framing.PROBE_PATH}
        if tool == "Read"
        else {"command": framing.PROBE_COMMAND},
        "tool_use_id": framing.PROBE_SESSION,
    }
    return ADAPTERS[agent].decode(
        json.dumps({**fields, **other}).encode(), Intake(lane=lane, at=START)
    )


@pytest.mark.parametrize("agent", ["claude", "codex"])
@pytest.mark.parametrize(
    ("lane", "tool"),
    [(Lane.GATE, "Bash"), (Lane.GATE_READ, "Read"), (Lane.OBSERVE, "Bash")],
)
def test_it_is_known_on_each_lane(agent: str, lane: Lane, tool: str) -> None:
    made = event(agent, lane, tool)
    assert framing.is_probe(made)
    assert framing.probe_text(made) == (
        f"watchgate doctor tried the {lane} lane of {agent}; no agent asked anything"
    )


def test_it_is_known_while_the_gate_is_off_and_everything_is_observed() -> None:
    assert framing.is_probe(event("claude", Lane.OBSERVE, "Read"))


@pytest.mark.parametrize(
    "other",
    [
        {"tool_input": {"command": "rm -rf /"}},
        {"tool_input": {"command": framing.PROBE_COMMAND, "run_in_background": True}},
        {"tool_name": "Write"},
        {"hook_event_name": "PostToolUse", "tool_response": "done"},
        {"hook_event_name": "SessionStart"},
    ],
)
def test_a_call_that_differs_in_a_word_is_an_agents(other: dict[str, Any]) -> None:
    assert not framing.is_probe(event("claude", Lane.OBSERVE, "Bash", **other))


@pytest.mark.parametrize("agent", INSTALLABLE)
def test_every_agent_that_runs_hooks_can_be_asked_something_harmless(agent: str) -> None:
    if agent in ("opencode", "synaps"):  # these are asked by code of ours
        return
    entries = ADAPTERS[agent].entries("guard")

    played = {
        entry.lane for entry in entries if probe_payload(ADAPTERS[agent], entry.lane, entry.event)
    }

    assert played >= {entry.lane for entry in entries} & {Lane.GATE, Lane.GATE_READ}
