"""The released agents have the tools that the table knows, and no other."""

from __future__ import annotations

import pytest

from tests.agents.released import released_tools
from tests.agents_real.harness import released
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.session import Session
from watchgate.service.crashtest.agent_drivers import DRIVERS, ClaudeCodeDriver
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = pytest.mark.agents

RUN_CODE = {
    "AppifactRepl": "agents.elsewhere: it runs in a page on another machine",
    "Bash": "a shell",
    "CronCreate": "it gives the agent words, whose calls are gated when they come",
    "Monitor": "a shell",
    "PowerShell": "a shell",
    "REPL": "its code is judged",
    "RemoteTrigger": "agents.elsewhere",
    "Workflow": "its script is judged, and what its agents call is gated",
    "self_hosted_runner_requeue_session": "agents.elsewhere",
    "self_hosted_runner_spawn_local": "agents.elsewhere",
}
"""The tools of which Claude Code's program says that they run code, and what is made of each."""


@pytest.mark.parametrize("agent", DRIVERS)
def test_what_an_agent_offers_its_model_is_in_the_table(
    agent: str, place: ThrowawayPlace, model: ScriptedModel
) -> None:
    """A tool that is missing there needs a class, and a look at what its fields do."""
    session = Session(pinned(DRIVERS[agent]), place, model)
    try:
        found = released.offered(session, model.offered)
    finally:
        session.close()

    known = released_tools()[agent].offered
    assert found == {name: sorted(fields) for name, (_, *fields) in sorted(known.items())}


@pytest.mark.parametrize("agent", released.PROGRAMS)
def test_what_a_program_names_is_in_the_table(agent: str) -> None:
    pinned(DRIVERS[agent])
    known = set(released_tools()[agent].classes)

    found = list(released.named(agent))
    assert [names for names in found if not names & known] == []
    assert len(found) >= len(released_tools()[agent].named)


def test_what_claudes_program_says_to_run_code_is_judged() -> None:
    pinned(ClaudeCodeDriver)

    found = list(released.running_code("claude"))
    assert [names for names in found if not names & set(RUN_CODE)] == []
    assert {name for names in found for name in names & set(RUN_CODE)} == set(RUN_CODE)
