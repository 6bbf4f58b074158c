"""The main job: a real agent's command waits in the console, and one key decides it."""

from __future__ import annotations

import re

import pytest

from tests.agents_real.conftest import QUICK
from tests.agents_real.harness.program import PIN, Core
from tests.agents_real.harness.session import RISKY, AnySession, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

SHOWN = r"HIGH\s+Bash"


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_twice_lets_a_high_call_run(core: Core, agent: AnySession, console: Terminal) -> None:
    """The first `a` only asks again; the second lets the command run, signed by the console.

    An agent could open a tmux window too, so this terminal is locked: the PIN comes between.
    """
    agent.start(one_call())
    console.wait_for(SHOWN)
    held = core.holds_one()
    assert RISKY.partition(";")[0] in console.screen()
    console.press_until("a", "again")
    console.press_until("a", "unlock this terminal, PIN")
    console.type(PIN)
    console.press("Enter")
    console.wait_for("unlocked: this terminal may allow")
    assert agent.evidence == ""
    console.press_until("a", "again allows it")
    console.press_until("a", "nothing pending")
    agent.finish()

    assert agent.evidence == "ran\n"
    decided = core.record("approval.decided", held.id)["data"]
    assert decided["word"] == "allowed-by-operator"
    assert re.fullmatch(r"operator \w+ \(console \d+, pin\)", decided["by"])
    assert core.record("effect.confirmed", held.id)


@pytest.mark.parametrize("agent", ["claude"], indirect=True)
def test_d_stops_the_call(core: Core, agent: AnySession, console: Terminal) -> None:
    """One key denies, and the model is told that an operator did."""
    agent.start(one_call())
    console.wait_for(SHOWN)
    held = core.holds_one()
    console.press_until("d", "nothing pending")
    agent.finish()

    assert agent.evidence == ""
    assert "operator" in agent.told
    assert core.record("approval.decided", held.id)["data"]["word"] == "denied-by-operator"


@pytest.mark.parametrize("agent", ["codex"], indirect=True)
def test_r_denies_with_words_that_the_model_reads(
    core: Core, agent: AnySession, console: Terminal
) -> None:
    """`r` opens a field; what is typed there reaches the model."""
    agent.start(one_call())
    console.wait_for(SHOWN)
    held = core.holds_one()
    console.press_until("r", "not now")
    console.type("use a branch instead")
    console.press("Enter")
    agent.finish()

    assert "use a branch instead" in agent.told
    assert core.record("approval.decided", held.id)["data"]["reason"] == "use a branch instead"
