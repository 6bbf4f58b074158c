"""A headless agent's risky command waits, and an operator's word from a shell decides it."""

from __future__ import annotations

import re

import msgspec
import pytest

from tests.agents_real.conftest import QUICK
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.released import offer_every_tool
from tests.agents_real.harness.session import RISKY, AnySession, Session, one_call
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.model.conversation import ToolUse, Turn

pytestmark = pytest.mark.agents


def test_an_allow_runs_a_call_and_a_denial_stops_the_next(core: Core, agent: AnySession) -> None:
    """The first leaves its evidence once; the model reads the reason why the second did not run.

    What `ls --json` lists has all that a decision needs, and the journal names the operator.
    """
    agent.start(one_call(), one_call("git push --force; echo more >> out.txt"))
    first = core.holds_one()
    assert agent.evidence == ""
    allowed = core.allow(first, "--as", "alice")
    second = core.holds_one()
    denied = core.deny(second, "not on a Friday")
    agent.finish()

    assert (first.agent, first.lane, first.tool) == (agent.agent.name, "gate", "Bash")
    assert first.summary == RISKY
    assert first.risk in {"high", "critical"}
    assert first.reason
    assert re.fullmatch(r"[0-9a-f]{64}", first.digest)
    assert re.fullmatch(r"[0-9a-hjkmnp-tv-z]{26}", first.id)
    assert (allowed.exit_code, denied.exit_code) == (0, 0)
    assert agent.evidence == "ran\n"
    assert "not on a Friday" in agent.told
    core.turn_ends()
    decided = core.record("approval.decided", first.id)["data"]
    assert decided["word"] == "allowed-by-operator"
    assert "alice" in decided["by"]
    assert decided["waited_s"] > 0
    assert core.record("effect.confirmed", first.id)
    refused = core.record("approval.decided", second.id)["data"]
    assert refused["word"] == "denied-by-operator"
    assert refused["reason"] == "not on a Friday"
    assert core.records("effect.contradicted") == []
    assert len(core.records("approval.requested")) == 2


def test_a_handback_leaves_the_call_to_the_agent(core: Core, agent: AnySession) -> None:
    """This agent runs it by its own rules; the journal says that nobody allowed it."""
    agent.start(one_call())
    held = core.holds_one()
    handed_back = core.hand_back(held)
    agent.finish()

    assert handed_back.exit_code == 0
    assert agent.evidence == "ran\n"
    decided = core.record("approval.decided", held.id)["data"]
    assert decided["word"] == "handed-back-by-operator"
    core.turn_ends()
    assert len(core.records("approval.requested")) == 1


def test_a_command_that_claude_only_monitors_is_held(
    core: Core, claude: Session[ClaudeCodeDriver]
) -> None:
    """Its Monitor runs a shell command too, and is judged as one."""
    offer_every_tool(claude)
    call = ToolUse("Monitor", {"command": RISKY, "description": "watches"})
    claude.start(Turn("I will watch.", (call,)))
    held = core.holds_one()
    core.deny(held, "not this one")
    claude.finish()

    assert (held.tool, held.summary) == ("Monitor", RISKY)
    assert held.risk in {"high", "critical"}
    assert claude.evidence == ""
    assert "not this one" in claude.told


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_an_allow_of_something_else_is_refused(core: Core, agent: AnySession) -> None:
    """A digest that is not the request's own changes nothing; the right one still counts."""
    agent.start(one_call())
    held = core.holds_one()
    refused = core.allow(msgspec.structs.replace(held, digest="0" * 64))
    still_held = core.holds_one()
    core.deny(held, "enough")
    agent.finish()

    assert refused.exit_code == 1
    assert "digest" in refused.err
    assert still_held == held
    assert agent.evidence == ""


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_an_answer_after_the_first_is_refused_with_who_was_first(
    core: Core, agent: AnySession
) -> None:
    """The late denial names the operator who allowed, changes nothing, and ends with code 4."""
    agent.start(one_call())
    held = core.holds_one()
    core.allow(held, "--as", "alice")
    late = core.deny(held, "too risky")
    agent.finish()

    assert late.exit_code == 4
    assert "alice" in late.err
    assert agent.evidence == "ran\n"
    assert "too risky" not in agent.told


def test_the_page_of_a_session_tells_what_ran_and_what_was_asked_for(
    core: Core, watchgate: Watchgate, claude: Session[ClaudeCodeDriver]
) -> None:
    claude.start(one_call())
    held = core.holds_one()
    watchgate.must("allow", held.id, "--digest", held.digest, "--command", "echo edited-word")
    claude.finish()
    core.turn_ends()
    page = watchgate.must("export", "--session", held.session, "--html")

    assert "edited: echo edited-word" in page
    assert "git push --force" in page
    assert "ran as edited" in page
