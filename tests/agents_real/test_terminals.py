"""Agents on a terminal of their own: one call, one card, and the agent's own dialog counts."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import EVIDENCE, RISKY, AnySession, Session, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import (
    ClaudeCodeDriver,
    CodexDriver,
    CopilotDriver,
    GeminiDriver,
    QwenDriver,
)
from watchgate.service.crashtest.model.conversation import Shell, Turn

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

HARMLESS = f"printf 'ran\\n' >> {EVIDENCE}"
"""A command that no rule holds at the gate while a person sits at the agent."""
CLAUDE_ASKS = "Do you want to proceed"
CODEX_ASKS = "Would you like to run"
ASKS = {
    "copilot": "Do you want to run this command",
    "gemini": "Allow execution of",
    "qwen": "Allow execution of",
}
"""The dialogs in which the first choice is to allow this once."""
ESCALATED = Turn(
    "I will run a command outside the sandbox.",
    (Shell(RISKY, {"sandbox_permissions": "require_escalated", "justification": "it must"}),),
)


def test_a_call_handed_back_to_claude_is_asked_in_its_own_terminal(
    core: Core, claude: Session[ClaudeCodeDriver]
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
    core: Core, claude: Session[ClaudeCodeDriver]
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
    core: Core, claude: Session[ClaudeCodeDriver]
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
    core: Core, codex: Session[CodexDriver]
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
    core: Core, codex: Session[CodexDriver]
) -> None:
    """Nobody at a console: the relay lane steps aside and the user's own yes counts."""
    with codex.on_a_terminal(ESCALATED) as screen:
        core.hand_back(core.holds_one())
        screen.wait_for(CODEX_ASKS)
        screen.press_until("y", "Finished")  # a dialog that was only just drawn takes no key
        eventually(lambda: codex.evidence, "the command's evidence")
        core.turn_ends()

        assert codex.evidence == "ran\n"
        assert core.records("effect.contradicted") == []


@pytest.mark.parametrize("agent", ["copilot", "gemini"], indirect=True)
def test_a_call_handed_back_is_asked_in_the_agents_own_terminal(
    core: Core, agent: AnySession
) -> None:
    """One request, and the user's own yes at the agent's dialog counts."""
    with agent.on_a_terminal(one_call()) as screen:
        gate = core.holds_one()
        core.hand_back(gate)
        screen.wait_for(ASKS[agent.agent.name])
        screen.press("Enter")
        eventually(lambda: agent.evidence, "the command's evidence")
        core.turn_ends()

        assert gate.lane == "gate"
        assert agent.evidence == "ran\n"
        assert len(core.records("approval.requested")) == 1
        assert core.records("effect.contradicted") == []


def test_an_allow_at_geminis_gate_does_not_spare_its_own_question(
    core: Core, gemini: Session[GeminiDriver]
) -> None:
    """Gemini cannot be told yes: what is allowed here waits in its terminal once more."""
    with gemini.on_a_terminal(one_call()) as screen:
        core.allow(core.holds_one())
        screen.wait_for(ASKS["gemini"])
        assert gemini.evidence == ""
        screen.press("Enter")
        eventually(lambda: gemini.evidence, "the command's evidence")


def test_an_allow_at_copilots_gate_spares_its_own_question(
    core: Core, copilot: Session[CopilotDriver]
) -> None:
    """The command runs without a key pressed in Copilot's terminal."""
    with copilot.on_a_terminal(one_call()) as screen:
        gate = core.holds_one()
        core.allow(gate)
        eventually(lambda: copilot.evidence, "the command's evidence")
        core.turn_ends()

        assert not screen.shows(ASKS["copilot"])
        assert len(core.records("approval.requested")) == 1
        assert core.record("effect.confirmed", gate.id)


def test_a_harmless_call_of_copilots_makes_no_card(
    core: Core, copilot: Session[CopilotDriver]
) -> None:
    """Copilot's own question about it is left to its user."""
    with copilot.on_a_terminal(one_call(HARMLESS)) as screen:
        screen.wait_for(ASKS["copilot"])
        assert core.pending() == []
        screen.press("Enter")
        eventually(lambda: copilot.evidence, "the command's evidence")
        core.turn_ends()

        assert core.records("approval.requested") == []


def test_qwen_asks_before_its_gate_and_one_allow_is_enough(
    core: Core, qwen: Session[QwenDriver], console: Terminal
) -> None:
    """With somebody at a console its question comes there; the yes is carried to the gate."""
    console.press("Down")
    with qwen.on_a_terminal(one_call()) as screen:
        relay = core.holds_one()
        core.allow(relay)
        eventually(lambda: qwen.evidence, "the command's evidence")
        core.turn_ends()

        assert relay.lane == "relay"
        assert not screen.shows(ASKS["qwen"])
        assert len(core.records("approval.requested")) == 1
        assert core.record("effect.confirmed", relay.id)


def test_a_yes_in_qwens_own_terminal_still_has_to_pass_the_gate(
    core: Core, qwen: Session[QwenDriver]
) -> None:
    """Nobody at a console: Qwen asks its user, and then the risky call waits at the gate."""
    with qwen.on_a_terminal(one_call()) as screen:
        screen.wait_for(ASKS["qwen"])
        screen.press("Enter")
        gate = core.holds_one()
        assert qwen.evidence == ""
        core.allow(gate)
        eventually(lambda: qwen.evidence, "the command's evidence")
        core.turn_ends()

        assert gate.lane == "gate"
        assert qwen.evidence == "ran\n"
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
