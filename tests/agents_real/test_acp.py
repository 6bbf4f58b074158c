"""Agents behind `watchgate acp`: what they ask their editor comes to the console first."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents_real.harness.editor import editing
from tests.agents_real.harness.packages import ACP
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import AnySession, Session, one_call
from tests.agents_real.harness.tmux import Terminal, needs_tmux
from watchgate.service.crashtest.agent_drivers import DRIVERS, OpenCodeDriver
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]


@pytest.fixture(params=ACP)
def spoken(
    request: pytest.FixtureRequest, place: ThrowawayPlace, model: ScriptedModel
) -> Iterator[AnySession]:
    """Each agent that speaks the protocol, without any hook of ours, in the mode that asks."""
    session = Session(pinned(DRIVERS[request.param]), place, model)
    if isinstance(session.agent, OpenCodeDriver):
        session.agent.permit(place, model.url, "ask")
    yield session
    session.close()


@pytest.fixture
def environment(spoken: AnySession, model: ScriptedModel, watchgate: Watchgate) -> dict[str, str]:
    """The agent's own, and where Watchgate's core is."""
    ours = {k: v for k, v in watchgate.environment.items() if k.startswith("WATCHGATE_")}
    return spoken.agent.whole_environment(spoken.place, model.url) | ours


def test_an_allow_runs_the_call_and_a_denial_does_not(
    core: Core,
    console: Terminal,
    spoken: AnySession,
    model: ScriptedModel,
    environment: dict[str, str],
) -> None:
    """Two calls in a row; the editor is asked about neither."""
    model.script = (one_call("echo one >> out.txt"), one_call("echo two >> out.txt"))
    console.press("Down")
    with editing(spoken.agent, spoken.place, environment, "reject_once") as (editor, prompt):
        first = core.holds_one()
        core.allow(first)
        core.deny(core.holds_one(), "not on a Friday")
        editor.finish(prompt)

    assert (first.agent, first.lane) == ("acp", "relay")
    assert spoken.evidence == "one\n"
    assert editor.asked == []


@pytest.mark.parametrize("spoken", ["gemini", "opencode"], indirect=True)
def test_a_handback_asks_the_editors_own_user(
    core: Core,
    console: Terminal,
    spoken: AnySession,
    model: ScriptedModel,
    environment: dict[str, str],
) -> None:
    """The request goes on to the editor as the agent sent it, and its user's word counts."""
    model.script = (one_call("echo one >> out.txt"),)
    console.press("Down")
    with editing(spoken.agent, spoken.place, environment, "allow_once") as (editor, prompt):
        core.hand_back(core.holds_one())
        editor.finish(prompt)

    assert spoken.evidence == "one\n"
    assert len(editor.asked) == 1
