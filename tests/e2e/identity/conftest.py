from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.identity.asking import Terminal
from tests.e2e.programs import Core
from tests.e2e.standin import Agent


@pytest.fixture
def core() -> Iterator[Core]:
    """A core that nothing was proven to yet."""
    core = Core()
    core.proves = False
    yield core
    core.end()


@pytest.fixture
def window() -> Iterator[Terminal]:
    """A terminal that is open before any agent is started."""
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def agent(running: Core, window: Terminal) -> Iterator[Agent]:
    """An agent that was started after that."""
    agent = Agent(running)
    yield agent
    agent.end()
