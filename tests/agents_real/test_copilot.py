"""Copilot takes a hook that fails for a denial, so hooks that only look must never fail."""

from __future__ import annotations

import pytest

from tests.agents_real.conftest import PATIENT
from tests.agents_real.harness.session import Session, one_call
from watchgate.service.crashtest.agent_drivers import CopilotDriver

pytestmark = pytest.mark.agents


@pytest.fixture
def config() -> str:
    """The profile that only looks at calls."""
    return f'profile = "watch"\n{PATIENT}'


def test_hooks_that_only_look_deny_nothing_without_a_core(copilot: Session[CopilotDriver]) -> None:
    """Copilot was told to allow everything, and nobody was asked to gate it."""
    copilot.play(one_call())

    assert copilot.evidence == "ran\n"
