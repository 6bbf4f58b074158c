"""The core is missing, dies, or the client's file is gone: the gate denies and says why."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.agents_real.conftest import QUICK
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import AnySession, Session, one_call
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.model.conversation import ToolUse, Turn

pytestmark = pytest.mark.agents


def client_file(agent: AnySession) -> Path:
    """The hook client that the installed command names."""
    hooks = agent.agent.hook_file(agent.place).read_text()
    found = re.search(r"(/[^\s'\"\\]+\.py)", hooks)
    assert found is not None, hooks
    return Path(found.group(1))


def test_without_a_core_the_gate_denies(agent: AnySession) -> None:
    """No core was ever started; the model reads that, and how to mend it."""
    agent.play(one_call())

    assert agent.evidence == ""
    assert "core is not running" in agent.told
    assert "watchgate serve" in agent.told


@pytest.mark.usefixtures("core")
def test_a_client_that_is_nothing_but_zeros_denies(agent: AnySession) -> None:
    """Python runs it without a word and with status 0, which is no word of the client."""
    client = client_file(agent)
    client.write_bytes(bytes(601))
    agent.play(one_call())

    assert agent.evidence == ""
    assert "the hook client failed with status" in agent.told


def test_without_a_core_a_read_is_left_to_the_agent(claude: Session[ClaudeCodeDriver]) -> None:
    """Reading is handed back when there is nobody to ask."""
    note = claude.place.work / "note.txt"
    note.write_text("the note's own words\n")
    claude.play(Turn("I will read it.", (ToolUse("Read", {"file_path": str(note)}),)))

    assert "the note's own words" in claude.told


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_core_that_dies_while_a_call_waits_denies_it(
    core: Core, watchgate: Watchgate, agent: AnySession
) -> None:
    """The agent is told at once, and the journal that was left behind still verifies."""
    agent.start(one_call())
    core.holds_one()
    core.die()
    agent.finish()

    assert agent.evidence == ""
    assert "core went away" in agent.told
    watchgate.must("audit", "verify")


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_core_that_stops_denies_what_waits(core: Core, agent: AnySession) -> None:
    """A core that goes in the proper way answers closed before it goes."""
    agent.start(one_call())
    core.holds_one()
    core.stop()
    agent.finish()

    assert agent.evidence == ""
    assert "Watchgate was stopped" in agent.told


def test_a_missing_client_file_denies(core: Core, agent: AnySession) -> None:
    """The installed command is guarded in the shell: without its client it still blocks."""
    client_file(agent).unlink()
    agent.play(one_call())

    assert agent.evidence == ""
    assert "the hook client is missing" in agent.told
    assert core.pending() == []


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_client_that_crashes_denies(core: Core, agent: AnySession) -> None:
    """So does one that ends in any way but its own two."""
    client_file(agent).write_text("raise SystemExit(7)\n")
    agent.play(one_call())

    assert agent.evidence == ""
    assert "the hook client failed with status 7" in agent.told
