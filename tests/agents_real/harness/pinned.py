"""The agents at the versions that the tests pin."""

from __future__ import annotations

from typing import TypeVar

from tests.agents_real.harness import npm
from tests.agents_real.harness.packages import PACKAGES
from watchgate.service.crashtest.agent_driver import AgentDriver

A = TypeVar("A", bound=AgentDriver)


def pinned(kind: type[A]) -> A:
    """An agent, installed if need be; skips the test where npm is missing."""
    package = PACKAGES[kind.name]
    return kind(npm.install(package), package.version)
