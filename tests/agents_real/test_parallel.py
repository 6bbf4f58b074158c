"""Two equal calls in one turn of Codex, which runs the hooks of a turn at once."""

from __future__ import annotations

import pytest

from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import RISKY, Session
from watchgate.service.crashtest.agent_drivers import CodexDriver
from watchgate.service.crashtest.model.conversation import Shell, Turn

pytestmark = pytest.mark.agents

TWICE = Turn("I will run it twice.", (Shell(RISKY), Shell(RISKY)))


def test_two_equal_calls_are_two_requests_decided_one_by_one(
    core: Core, codex: Session[CodexDriver]
) -> None:
    """Both wait side by side; one is allowed, one denied, and exactly one of them has run."""
    codex.start(TWICE)
    first, second = core.holds(2)
    core.allow(first)
    core.deny(second, "once is enough")
    codex.finish()

    assert first.id != second.id
    assert codex.evidence == "ran\n"
    assert sum("once is enough" in text for text in codex.results) == 1
    assert core.record("approval.decided", first.id)["data"]["word"] == "allowed-by-operator"
    assert core.record("approval.decided", second.id)["data"]["word"] == "denied-by-operator"
    assert core.record("effect.confirmed", first.id)


def test_a_decision_about_one_of_them_leaves_the_other_waiting(
    core: Core, codex: Session[CodexDriver]
) -> None:
    """Denying one does not clear its twin."""
    codex.start(TWICE)
    first, second = core.holds(2)
    core.deny(first, "no")
    left = core.holds_one()
    core.deny(second, "no")
    codex.finish()

    assert left.id == second.id
    assert codex.evidence == ""
