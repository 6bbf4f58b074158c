"""Nobody answers, or the core hangs: the agent is told no in time."""

from __future__ import annotations

import signal

import pytest

from tests.agents_real.conftest import QUICK
from tests.agents_real.harness.program import Core
from tests.agents_real.harness.session import AnySession, one_call

pytestmark = pytest.mark.agents


@pytest.fixture
def config() -> str:
    """The core answers after 2 s of silence; a hook client gives up on the core after 5 s."""
    return """\
[approval]
timeout_s = 2
unattended_timeout_s = 2
client_deadline_s = 5
margin_s = 1
relay_timeout_s = { serial = 2 }
"""


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_silence_denies_at_the_deadline_and_says_that_it_was_silence(
    core: Core, agent: AnySession
) -> None:
    """The model reads that this was no refusal by a person; an allow after it comes too late."""
    agent.start(one_call())
    held = core.holds_one()
    agent.finish()
    late = core.allow(held)

    assert agent.evidence == ""
    assert "Nobody answered" in agent.told
    assert "not a refusal by a person" in agent.told
    decided = core.record("approval.decided", held.id)["data"]
    assert decided["word"] == "denied-by-timeout"
    assert decided["by"] == "nobody"
    assert late.exit_code == 4
    assert "nobody" in late.err


@pytest.mark.parametrize("agent", QUICK, indirect=True)
def test_a_hung_core_denies_before_the_agents_own_limit(core: Core, agent: AnySession) -> None:
    """The hook client denies by itself; what the core makes of it later is not an allow."""
    agent.start(one_call())
    held = core.holds_one()
    core.signal(signal.SIGSTOP)
    agent.finish()
    core.signal(signal.SIGCONT)

    assert agent.evidence == ""
    assert "no answer before the deadline" in agent.told
    word = core.record("approval.decided", held.id)["data"]["word"]
    assert word in {"denied-by-timeout", "withdrawn"}
