"""What each agent does by itself with a call of its gate, mode by mode."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.hooked import heard
from watchgate.agents.registry import ADAPTERS
from watchgate.agents.table import EventRule, Modes, Table
from watchgate.agents.table.adapter import TableAdapter
from watchgate.core.model.events import Lane, OwnRules

CALL = {"session_id": "s-1", "cwd": "/home/dev/shop", "tool_name": "Bash", "tool_use_id": "t-1"}


def gated(agent: str, **fields: Any) -> OwnRules | None:
    return heard(
        agent, {**CALL, "hook_event_name": "PreToolUse", **fields}, lane=Lane.GATE
    ).own_rules


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_the_mode_of_the_call_chooses_from_the_agents_table(agent: str) -> None:
    rules = ADAPTERS[agent].own_rules

    for mode in filter(None, rules):
        assert gated(agent, permission_mode=mode) == rules[mode]
    assert gated(agent, permission_mode="of a later version") == rules[""]
    assert gated(agent) == rules[""]


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_on_a_relay_the_agent_has_asked_already(agent: str) -> None:
    asked = {**CALL, "hook_event_name": "PermissionRequest", "permission_mode": "plan"}

    assert heard(agent, asked, lane=Lane.RELAY).own_rules is None


@pytest.mark.parametrize(("headless", "mode"), [(True, "headless"), (False, "")])
def test_opencode_asks_nobody_when_it_is_headless(headless: bool, mode: str) -> None:
    call = {
        "hook": "tool.execute.before",
        "input": {"tool": "bash", "sessionID": "s-1", "callID": "c-1"},
        "output": {"args": {"command": "ls"}},
        "watchgate": {"headless": headless},
    }

    assert heard("opencode", call, lane=Lane.GATE).own_rules == ADAPTERS["opencode"].own_rules[mode]


def test_a_table_may_say_it_mode_by_mode() -> None:
    careful = OwnRules("runs-or-asks", "asks")
    modes = Modes(own_rules={"careful": careful})
    table = Table(
        name="nova", title="Nova", events={"Pre": EventRule(kind="tool.pre")}, modes=modes
    )
    adapter = TableAdapter(table)

    assert adapter.own_rules == {"careful": careful}
