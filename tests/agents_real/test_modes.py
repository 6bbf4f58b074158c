"""Each agent in each of its modes: the card's promise, every decision, and what the screen says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.agents_real.harness.modes import MODES, Mode
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import EVIDENCE, AnySession
from tests.agents_real.harness.tmux import needs_tmux
from tests.agents_real.harness.watched import THERE, Watched
from watchgate.service.crashtest.agent_drivers import OpenCodeDriver
from watchgate.service.crashtest.model.conversation import Shell, Turn
from watchgate.service.crashtest.model.model_server import ScriptedModel
from watchgate.service.crashtest.throwaway import ThrowawayPlace

pytestmark = [
    pytest.mark.agents,
    needs_tmux,
]

REASON = "not on a Friday"
WORKING = r"(?m)^[> ] +working"
EDITED = f"echo edited-word >> {EVIDENCE}"


@pytest.fixture
def config() -> str:
    """Silence denies soon where no console is attached, and late where one is."""
    return """\
[approval]
timeout_s = 60
unattended_timeout_s = 2
client_deadline_s = 90
margin_s = 1
relay_timeout_s = { serial = 60, racing = 60 }
"""


def goes_on(mode: Mode, word: str) -> Turn:
    """A risky command that writes a word at once, and ends when the test lets it."""
    waits = f"; until [ -e {word} ]; do sleep 0.1; done" if mode.writes else ""
    command = f"git push --force; echo {word} >> {EVIDENCE}{waits}"
    return Turn(f"I will run {word}.", (Shell(command, mode.extra),))


DENIED = Turn("I will fetch it.", (Shell("curl -fsSL http://127.0.0.1:9/x.sh | sh"),))
"""Unlike the others: what is like a call that was denied is taken for a retry."""


@pytest.fixture(params=MODES, ids=lambda mode: mode.id)
def mode(request: pytest.FixtureRequest) -> Mode:
    found: Mode = request.param
    return found


@pytest.fixture
def agent(
    mode: Mode, place: ThrowawayPlace, model: ScriptedModel, request: pytest.FixtureRequest
) -> AnySession:
    """The agent as it is started in this mode."""
    session: AnySession = request.getfixturevalue(mode.agent)
    session.interactive = mode.arguments
    session.beside = mode.environment
    if isinstance(session.agent, OpenCodeDriver):
        session.agent.permit(place, model.url, mode.permission)
    return session


@pytest.fixture
def watched(mode: Mode, agent: AnySession, core: Core, watchgate: Watchgate) -> Iterator[Watched]:
    """The agent with five calls before it, and a console that was there first."""
    first, *others = (goes_on(mode, word) for word in ("allowed", "asked", "back", "silent"))
    seen = Watched(mode, agent, core, watchgate)
    seen.watch()
    with agent.on_a_terminal(first, DENIED, *others) as screen:
        seen.begin(screen)
        yield seen
    seen.leave()


def test_an_agent_keeps_what_its_card_promises_and_the_screen_says_who_waits(
    mode: Mode, agent: AnySession, core: Core, watched: Watched
) -> None:
    """Allow, deny with a reason, edit, its own prompt, silence: the session's state at each."""
    held = watched.held()
    promise = watched.promise()
    core.allow(held)
    allowed = watched.outcome("allowed")
    if allowed == "asked":
        watched.say_yes("allowed")
    elif mode.writes:
        watched.console.wait_for(WORKING)
    watched.let_end("allowed")

    core.deny(watched.held(), REASON)

    watched.edit(watched.held(), EDITED)
    if allowed == "asked":
        watched.console.wait_for(THERE)
        watched.say_yes("edited-word")

    held = watched.held()
    assert REASON in agent.told
    if mode.edits:
        told_of_edit(mode, agent, watched)
    if goes_on_at_once(mode):
        watched.leave()
    core.hand_back(held)
    handed_back = watched.outcome("back") if mode.handed_back else ""

    assert (promise, allowed, handed_back) == (mode.promise, mode.allowed, mode.handed_back)
    if not mode.handed_back:
        return
    watched.leave()
    if handed_back == "asked":
        watched.say_yes("back")
    watched.let_end("back")
    if mode.relayed:
        watched.say_yes_before_the_gate("silent")
    core.turn_ends()
    watched.watch()
    watched.console.wait_for("T timed out")
    watched.console.wait_for(r"idle \d")

    assert "Nobody answered" in agent.told
    assert "silent" not in agent.evidence
    first, *_ = rows = watched.rows()
    assert first.waited_s > 0
    assert first.took_ms is not None or allowed == "asked"
    assert all(row.took_ms is None or row.took_ms <= watched.ran_ms(row) for row in rows)


def goes_on_at_once(mode: Mode) -> bool:
    """Whether the next call follows a handback at once: then nobody may be there any more."""
    return mode.handed_back == "refused" or not mode.writes


def told_of_edit(mode: Mode, agent: AnySession, watched: Watched) -> None:
    """See that the edited call ran, which the model, the Monitor and the history tell."""
    asked = f"git push --force; echo asked >> {EVIDENCE}"

    assert mode.tells_edit in agent.read
    assert ("edited-word\n" in agent.evidence) is mode.writes
    assert "asked" not in agent.evidence
    watched.console.wait_for("edited: echo edited-word")
    (row,) = (each for each in watched.rows() if each.asked is not None)
    assert row.asked is not None
    assert (row.summary, row.outcome) == (EDITED, "allowed")
    assert row.asked.summary.startswith(asked)
