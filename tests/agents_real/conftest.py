"""Real agents, a real core, and a model on loopback that plays a script."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.agents_real.harness.agents import ClaudeCode, Codex
from tests.agents_real.harness.codex_trust import trust_hooks
from tests.agents_real.harness.model_server import Model, running_model
from tests.agents_real.harness.place import Place
from tests.agents_real.harness.program import Core, Watchgate
from tests.agents_real.harness.session import AnySession, Session

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
    """Show what the programs said when a test fails: they are gone by the time anyone asks."""
    report = yield
    place = getattr(item, "funcargs", {}).get("place")
    if report.failed and isinstance(place, Place):
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
def place(short_path: Path, config: str) -> Place:
    place = Place(short_path.resolve())
    place.make()
    place.write(place.config, config)
    return place


@pytest.fixture
def watchgate(place: Place) -> Watchgate:
    return Watchgate(place, (ClaudeCode, Codex))


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
def model() -> Iterator[Model]:
    with running_model() as model:
        yield model


@pytest.fixture
def claude(place: Place, model: Model, watchgate: Watchgate) -> Iterator[Session[ClaudeCode]]:
    """Claude Code with Watchgate's hooks installed."""
    session = Session(ClaudeCode(), place, model)
    watchgate.must("install", "claude")
    yield session
    session.close()


@pytest.fixture
def untrusting_codex(place: Place, model: Model, watchgate: Watchgate) -> Iterator[Session[Codex]]:
    """Codex with Watchgate's hooks installed, before its user has trusted them."""
    session = Session(Codex(), place, model)
    watchgate.must("install", "codex")
    yield session
    session.close()


@pytest.fixture
def codex(untrusting_codex: Session[Codex]) -> Session[Codex]:
    """Codex with Watchgate's hooks installed and trusted."""
    trust_hooks(untrusting_codex.agent, untrusting_codex.place)
    return untrusting_codex


@pytest.fixture(params=["claude", "codex"])
def agent(request: pytest.FixtureRequest) -> AnySession:
    """Each agent in turn, ready to be started without a terminal."""
    session: AnySession = request.getfixturevalue(request.param)
    return session
