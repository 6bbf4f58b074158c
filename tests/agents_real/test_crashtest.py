"""The crash test with real agents: each still fails open where the page says that it does."""

from __future__ import annotations

import msgspec
import pytest

from scripts.crashtest_table import DATA, read
from tests.agents_real.harness.packages import PACKAGES
from tests.agents_real.harness.pinned import pinned
from tests.agents_real.harness.program import Watchgate
from watchgate.service.crashtest.agent_drivers import DRIVERS, CodexDriver
from watchgate.service.crashtest.trial import TrialResult, run_hooked

pytestmark = pytest.mark.agents

FAILING = {name: "returns-deny" if name == "opencode" else "garbage" for name in DRIVERS}


@pytest.mark.parametrize("name", DRIVERS)
def test_a_hook_that_answers_what_cannot_be_read_lets_the_call_run(name: str) -> None:
    """And the page says so of this version."""
    agent = pinned(DRIVERS[name])
    odd = next(each for each in agent.odd.hooks if each.id == FAILING[name])
    result = run_hooked(agent, odd, 2)

    known = {(each.agent, each.version, each.hook): each for each in read(DATA.read_text())}
    assert result.outcome == "ran", result
    assert known[name, PACKAGES[name].version, odd.id].outcome == "ran"


def test_the_command_finds_the_agent_on_the_path_and_tells_its_version(
    watchgate: Watchgate,
) -> None:
    """Its controls hold, and the hook that is guarded as ours is blocks."""
    pinned(CodexDriver)
    out = watchgate.must("crashtest", "codex", "--only", "guarded", "--json")

    results = [msgspec.json.decode(line, type=TrialResult) for line in out.splitlines()]
    assert [each.hook for each in results] == ["none", "deny-0", "guarded", "watchgate"]
    assert [each.outcome for each in results] == ["ran", "blocked", "blocked", "blocked"]
    assert {each.version for each in results} == {PACKAGES["codex"].version}
