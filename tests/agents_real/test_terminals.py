"""Agents on a terminal of their own: one call, one card, and the agent's own dialog counts."""

from __future__ import annotations

import shutil

import pytest

from tests.agents_real.harness.agents import ClaudeCode, Codex
from tests.agents_real.harness.conversation import Shell, Turn
from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import EVIDENCE, RISKY, AnySession, Session, one_call
from tests.agents_real.harness.waiting import eventually

pytestmark = [
    pytest.mark.agents,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]

HARMLESS = f"printf 'ran\\n' >> {EVIDENCE}"
"""A command that no rule holds at the gate while a person sits at the agent."""
CLAUDE_ASKS = "Do you want to proceed"
CODEX_ASKS = "Would you like to run"
ESCALATED = Turn(
    "I will run a command outside the sandbox.",
    (Shell(RISKY, {"sandbox_permissions": "require_escalated", "justification": "it must"}),),
)


def test_a_call_handed_back_to_claude_is_asked_in_its_own_terminal(
    core: Core, claude: Session[ClaudeCode]
) -> None:
    """The operator's handback is carried: Claude's dialog decides, without a second card."""
    with claude.on_a_terminal(one_call()) as screen:
        gate = core.holds_one()
        core.hand_back(gate)
        screen.wait_for(CLAUDE_ASKS)
        asked = core.record("tool.permission", gate.id)["data"]
        screen.press("1")
        eventually(lambda: claude.evidence, "the command's evidence")
        core.turn_ends()

        assert gate.lane == "gate"
        assert asked["gate"] == "carried"
        assert claude.evidence == "ran\n"
        assert len(core.records("approval.requested")) == 1
        assert core.records("effect.contradicted") == []


def test_an_answer_in_claudes_own_dialog_retires_the_request(
    core: Core, claude: Session[ClaudeCode]
) -> None:
    """Claude does not tell its hook; the call's end does, and the card goes away."""
    with claude.on_a_terminal(one_call(HARMLESS)) as screen:
        relay = core.holds_one()
        screen.wait_for(CLAUDE_ASKS)
        screen.press("1")
        eventually(lambda: claude.evidence, "the command's evidence")
        core.is_empty()
        late = core.deny(relay, "too late")

        assert relay.lane == "relay"
        assert claude.evidence == "ran\n"
        assert core.record("approval.decided", relay.id)["data"]["word"] == "answered-elsewhere"
        assert late.exit_code == 4


def test_an_operators_allow_answers_claudes_own_dialog(
    core: Core, claude: Session[ClaudeCode]
) -> None:
    """The dialog closes and the command runs without a key pressed in Claude's terminal."""
    with claude.on_a_terminal(one_call(HARMLESS)) as screen:
        relay = core.holds_one()
        screen.wait_for(CLAUDE_ASKS)
        core.allow(relay)
        eventually(lambda: claude.evidence, "the command's evidence")

        assert relay.lane == "relay"
        assert claude.evidence == "ran\n"
        assert core.record("effect.confirmed", relay.id)


def test_an_allow_at_codexs_gate_is_carried_to_its_permission_question(
    core: Core, codex: Session[Codex]
) -> None:
    """Codex cannot be told yes at the gate; its question after that needs no second answer."""
    with codex.on_a_terminal(ESCALATED) as screen:
        gate = core.holds_one()
        core.allow(gate)
        eventually(lambda: codex.evidence, "the command's evidence")
        core.turn_ends()

        assert gate.lane == "gate"
        assert codex.evidence == "ran\n"
        assert not screen.shows(CODEX_ASKS)
        assert core.record("tool.permission", gate.id)["data"]["gate"] == "carried"
        assert len(core.records("approval.requested")) == 1
        assert core.record("effect.confirmed", gate.id)


def test_a_call_handed_back_to_codex_is_asked_in_its_own_terminal(
    core: Core, codex: Session[Codex]
) -> None:
    """Nobody at a console: the relay lane steps aside and the user's own yes counts."""
    with codex.on_a_terminal(ESCALATED) as screen:
        core.hand_back(core.holds_one())
        screen.wait_for(CODEX_ASKS)
        screen.press("y")
        eventually(lambda: codex.evidence, "the command's evidence")
        core.turn_ends()

        assert codex.evidence == "ran\n"
        assert core.records("effect.contradicted") == []


@pytest.mark.parametrize("name", ["claude", "codex"])
def test_an_interrupted_agent_withdraws_its_request(
    core: Core, name: str, request: pytest.FixtureRequest
) -> None:
    """Escape ends the hook's shell; its client leaves too, and nobody has decided anything."""
    agent: AnySession = request.getfixturevalue(name)
    with agent.on_a_terminal(one_call()) as screen:
        gate = core.holds_one()
        screen.press("Escape")
        core.is_empty()
        late = core.allow(gate)

        assert core.record("approval.decided", gate.id)["data"]["word"] == "withdrawn"
        assert late.exit_code == 4
        assert agent.evidence == ""
