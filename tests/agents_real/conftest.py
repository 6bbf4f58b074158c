"""Real agents, a real core, and a model on loopback that plays a script."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TypeVar

import pytest

from tests.agents_real.harness.codex_trust import trust_hooks
from tests.agents_real.harness.packages import PACKAGES
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.program import PROGRAM, Core, Watchgate
from tests.agents_real.harness.session import AnySession, Session
from tests.agents_real.harness.tmux import Terminal, terminal
from watchgate.service.crashtest.agent_driver import AgentDriver
from watchgate.service.crashtest.agent_drivers import (
    DRIVERS,
    ClaudeCodeDriver,
    CodexDriver,
    CopilotDriver,
    GeminiDriver,
    OpenCodeDriver,
    QwenDriver,
)
from watchgate.service.crashtest.model.model_server import ScriptedModel, running_model
from watchgate.service.crashtest.throwaway import ThrowawayPlace

A = TypeVar("A", bound=AgentDriver)

QUICK = ("claude", "codex")
"""The agents that start fastest: enough where what is tested is the core's part alone."""

PATIENT = """\
[approval]
timeout_s = 60
unattended_timeout_s = 60
client_deadline_s = 90
"""


LOGS = ("agent.log", "serve.err", "records.log")
SHOWN_CHARS = 6_000


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Shows what the programs said when a test fails: they are gone by the time anyone asks."""
    report = yield
    place = getattr(item, "funcargs", {}).get("place")
    if report.failed and isinstance(place, ThrowawayPlace):
        for log in (place.top / name for name in LOGS):
            if log.exists():
                text = log.read_text(errors="replace")[-SHOWN_CHARS:]
                report.sections.append((log.name, text))
    return report


@pytest.fixture
def config() -> str:
    """The configuration in force; a test module that needs another defines its own fixture."""
    return PATIENT


@pytest.fixture
def place(short_path: Path, config: str) -> ThrowawayPlace:
    place = ThrowawayPlace(short_path.resolve())
    place.make()
    place.write(place.config, config)
    return place


@pytest.fixture
def watchgate(place: ThrowawayPlace) -> Watchgate:
    return Watchgate(place, PACKAGES.values())


@pytest.fixture
def core(watchgate: Watchgate) -> Iterator[Core]:
    """A running core; however it ends, the journal that it leaves must verify."""
    core = Core(watchgate)
    try:
        yield core
    finally:
        core.stop()
    watchgate.must("audit", "verify")


@pytest.fixture
def model() -> Iterator[ScriptedModel]:
    with running_model() as model:
        yield model


def installed(
    agent: type[A], place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[A]]:
    """An agent with Watchgate's hooks installed, ended with the test."""
    session = Session(pinned(agent), place, model)
    watchgate.must("install", agent.name)
    yield session
    session.close()


@pytest.fixture
def claude(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[ClaudeCodeDriver]]:
    yield from installed(ClaudeCodeDriver, place, model, watchgate)


@pytest.fixture
def untrusting_codex(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[CodexDriver]]:
    """Codex before its user has trusted the hooks."""
    yield from installed(CodexDriver, place, model, watchgate)


@pytest.fixture
def codex(untrusting_codex: Session[CodexDriver]) -> Session[CodexDriver]:
    """Codex with its hooks trusted."""
    trust_hooks(untrusting_codex.agent, untrusting_codex.place)
    return untrusting_codex


@pytest.fixture
def copilot(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[CopilotDriver]]:
    yield from installed(CopilotDriver, place, model, watchgate)


@pytest.fixture
def gemini(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[GeminiDriver]]:
    yield from installed(GeminiDriver, place, model, watchgate)


@pytest.fixture
def qwen(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[QwenDriver]]:
    yield from installed(QwenDriver, place, model, watchgate)


@pytest.fixture
def opencode(
    place: ThrowawayPlace, model: ScriptedModel, watchgate: Watchgate
) -> Iterator[Session[OpenCodeDriver]]:
    yield from installed(OpenCodeDriver, place, model, watchgate)


@pytest.fixture(params=DRIVERS)
def agent(request: pytest.FixtureRequest) -> AnySession:
    """Each agent in turn, ready to be started without a terminal."""
    session: AnySession = request.getfixturevalue(request.param)
    return session


@pytest.fixture
def console(core: Core, watchgate: Watchgate, place: ThrowawayPlace) -> Iterator[Terminal]:
    """The console on a terminal of its own, attached to the running core."""
    surroundings = watchgate.environment | {"TERM": "xterm-256color", "COLORTERM": "truecolor"}
    surroundings.pop("NO_COLOR", None)
    with terminal(place, [str(PROGRAM)], surroundings) as screen:
        screen.wait_for("Nothing has passed through it|without a gate")
        yield screen
