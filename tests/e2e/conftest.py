from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.e2e.driving import Console
from tests.e2e.programs import Core


@pytest.fixture
def core() -> Iterator[Core]:
    """A core that is not started yet; whatever was started is gone after the test."""
    core = Core()
    yield core
    core.end()


@pytest.fixture
def running(core: Core) -> Core:
    """A core that serves."""
    core.start()
    return core


@pytest.fixture
def attended(running: Core) -> Iterator[Core]:
    """A core with a console in front of it."""
    console = Console(running)
    yield running
    console.close()
