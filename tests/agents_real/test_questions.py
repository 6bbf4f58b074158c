"""Claude Code asks a person: its questions and plans are answered here, or in its own terminal."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import Session
from tests.agents_real.harness.tmux import needs_tmux
from tests.agents_real.harness.waiting import eventually
from watchgate.service.crashtest.agent_drivers import ClaudeCodeDriver
from watchgate.service.crashtest.model.conversation import PROMPT, ToolUse, Turn

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

ASKS = Turn(
    "I have questions.",
    (
        ToolUse(
            "AskUserQuestion",
            {
                "questions": [
                    {
                        "question": "Which store should be used?",
                        "header": "Store",
                        "multiSelect": False,
                        "options": [
                            {"label": "A file", "description": "nothing to run"},
                            {"label": "A server", "description": "one more program"},
                        ],
                    },
                    {
                        "question": "Which checks should run?",
                        "header": "Checks",
                        "multiSelect": True,
                        "options": [
                            {"label": "lint", "description": "seconds"},
                            {"label": "types", "description": "a minute"},
                        ],
                    },
                ]
            },
        ),
    ),
)
PLANS = Turn("Here is my plan.", (ToolUse("ExitPlanMode", {"plan": "1. Move it."}),))
DIALOG = "Which store should be used"


@pytest.fixture
def planning(claude: Session[ClaudeCodeDriver]) -> Session[ClaudeCodeDriver]:
    """Claude Code in plan mode, with Watchgate's hooks installed."""
    claude.interactive = ("--permission-mode", "plan", PROMPT)
    return claude


def test_answers_from_a_shell_reach_the_model(
    core: Core, watchgate: Watchgate, claude: Session[ClaudeCodeDriver]
) -> None:
    """Claude's own dialog closes; the model reads a label and two labels."""
    with claude.on_a_terminal(ASKS) as screen:
        asked = core.holds_one()
        screen.wait_for(DIALOG)
        watchgate.must("answer", asked.id, "--digest", asked.digest, "2", "lint, types")
        told = eventually(lambda: claude.told, "what the model is told")
        core.turn_ends()

        assert asked.lane == "relay"
        assert '"Which store should be used?"="A server"' in told
        assert '"Which checks should run?"="lint, types"' in told
        assert core.record("effect.confirmed", asked.id)
        assert core.records("effect.contradicted") == []


def test_words_of_ones_own_reach_the_model(
    core: Core, watchgate: Watchgate, claude: Session[ClaudeCodeDriver]
) -> None:
    with claude.on_a_terminal(ASKS):
        asked = core.holds_one()
        watchgate.must("answer", asked.id, "--digest", asked.digest, "ask the team", "1")
        assert "ask the team" in eventually(lambda: claude.told, "what the model is told")


def test_a_declined_question_tells_the_model_why(
    core: Core, claude: Session[ClaudeCodeDriver]
) -> None:
    with claude.on_a_terminal(ASKS):
        core.deny(core.holds_one(), "decide for yourself")
        told = eventually(lambda: claude.told, "what the model is told")

        assert "decide for yourself" in told


def test_an_answer_in_claudes_own_dialog_retires_the_question(
    core: Core, claude: Session[ClaudeCodeDriver]
) -> None:
    with claude.on_a_terminal(ASKS) as screen:
        asked = core.holds_one()
        screen.wait_for(DIALOG)
        screen.press("1")
        screen.wait_for("Which checks should run")
        screen.press("1", "Right")
        screen.wait_for("Submit answers")
        screen.press("1")
        told = eventually(lambda: claude.told, "what the model is told")
        core.is_empty()

        assert '"Which store should be used?"="A file"' in told
        assert core.record("approval.decided", asked.id)["data"]["word"] == "answered-elsewhere"


def test_a_question_handed_back_stays_in_claudes_own_dialog(
    core: Core, claude: Session[ClaudeCodeDriver]
) -> None:
    with claude.on_a_terminal(ASKS) as screen:
        core.hand_back(core.holds_one())
        core.is_empty()
        screen.wait_for(DIALOG)

        assert claude.told == ""


def test_an_approved_plan_ends_plan_mode(core: Core, planning: Session[ClaudeCodeDriver]) -> None:
    """A bare allow would leave the dialog standing."""
    with planning.on_a_terminal(PLANS):
        plan = core.holds_one()
        core.allow(plan)
        told = eventually(lambda: planning.told, "what the model is told")

        assert "approved" in told
        assert core.record("effect.confirmed", plan.id)


def test_a_denied_plan_tells_the_model_why(core: Core, planning: Session[ClaudeCodeDriver]) -> None:
    with planning.on_a_terminal(PLANS):
        core.deny(core.holds_one(), "keep the old name")
        told = eventually(lambda: planning.told, "what the model is told")

        assert "keep the old name" in told
