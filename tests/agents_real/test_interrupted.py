"""A person breaks a turn off in the agent's own terminal, and the console says so."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import EVIDENCE, AnySession, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux
from tests.agents_real.harness.waiting import eventually

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

ENDLESS = f"git push --force; echo ran >> {EVIDENCE}; until [ -e never ]; do sleep 0.1; done"


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_escape_while_a_call_runs_ends_the_turn(
    core: Core, agent: AnySession, console: Terminal
) -> None:
    """No hook of Claude Code tells of it: its transcript does."""
    with agent.on_a_terminal(one_call(ENDLESS)) as screen:
        core.allow(core.holds_one())
        eventually(lambda: agent.evidence, "the command's evidence")
        console.wait_for(r"\+ running")
        console.wait_for(r"(?m)^[> ] +working")
        screen.press("Escape")
        console.wait_for(r"(?m)^[> ] +(idle|interrupted)")

        assert not console.shows(r"\+ running")
        (told,) = core.records("turn.interrupt")
        assert "interrupted" in told["data"]["text"]
