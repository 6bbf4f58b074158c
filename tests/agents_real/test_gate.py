"""A headless agent's risky command waits, and an operator's word from a shell decides it."""

from __future__ import annotations

import re

import msgspec
import pytest

from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import RISKY, AnySession, one_call

pytestmark = pytest.mark.agents


def test_a_held_call_is_listed_with_all_that_a_decision_needs(
    core: Core, agent: AnySession
) -> None:
    """Agent, lane, tool, summary, risk and digest are in `ls --json`, and nothing has run."""
    agent.start(one_call())
    held = core.holds_one()

    assert held.agent == agent.agent.name
    assert held.lane == "gate"
    assert held.tool == "Bash"
    assert held.summary == RISKY
    assert held.risk in {"high", "critical"}
    assert held.reason
    assert re.fullmatch(r"[0-9a-f]{64}", held.digest)
    assert re.fullmatch(r"[0-9a-hjkmnp-tv-z]{26}", held.id)
    assert agent.evidence == ""


def test_an_allow_lets_the_call_run_and_its_effect_is_confirmed(
    core: Core, agent: AnySession
) -> None:
    """The command leaves its evidence once; the journal names the operator and the effect."""
    agent.start(one_call())
    held = core.holds_one()
    allowed = core.allow(held, "--as", "alice")
    agent.finish()

    assert allowed.exit_code == 0
    assert agent.evidence == "ran\n"
    decided = core.record("approval.decided", held.id)["data"]
    assert decided["word"] == "allowed-by-operator"
    assert "alice" in decided["by"]
    assert decided["waited_s"] > 0
    assert core.record("effect.confirmed", held.id)


def test_a_denial_stops_the_call_and_the_model_reads_the_reason(
    core: Core, agent: AnySession
) -> None:
    """Nothing ran; the reason that the operator typed is in the tool result."""
    agent.start(one_call())
    held = core.holds_one()
    denied = core.deny(held, "not on a Friday")
    agent.finish()

    assert denied.exit_code == 0
    assert agent.evidence == ""
    assert "not on a Friday" in agent.told
    decided = core.record("approval.decided", held.id)["data"]
    assert decided["word"] == "denied-by-operator"
    assert decided["reason"] == "not on a Friday"
    core.turn_ends()
    assert core.records("effect.contradicted") == []


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
