"""docs/crashtest.md is what the results say, and every pinned agent has results."""

from __future__ import annotations

import msgspec
import pytest

from scripts.crashtest_table import DATA, DOCUMENT, read, render
from tests.agents_real.harness.packages import PACKAGES
from watchgate.service.crashtest.agent_drivers import DRIVERS
from watchgate.service.crashtest.trial import NO_HOOK, OURS, TrialResult


@pytest.fixture(scope="module")
def results() -> list[TrialResult]:
    return read(DATA.read_text())


def test_the_document_is_what_the_results_say(results: list[TrialResult]) -> None:
    assert DOCUMENT.read_text() == render(results), "run `make crashtest-table`"


def test_another_outcome_is_another_document(results: list[TrialResult]) -> None:
    blocked = next(each for each in results if each.outcome == "blocked")
    others = [each for each in results if each is not blocked]
    ran = msgspec.structs.replace(blocked, outcome="ran")

    assert render([*others, ran]) != render([*others, blocked])


@pytest.mark.parametrize("name", PACKAGES)
def test_every_pinned_agent_was_tried_with_every_hook(
    name: str, results: list[TrialResult]
) -> None:
    odd = DRIVERS[name].odd
    version = PACKAGES[name].version
    outcomes = {
        each.hook: each.outcome for each in results if (each.agent, each.version) == (name, version)
    }

    assert set(outcomes) == {NO_HOOK, odd.denies.id, OURS, *(each.id for each in odd.hooks)}
    assert outcomes[NO_HOOK] == "ran"
    assert outcomes[odd.denies.id] == "blocked"


@pytest.mark.parametrize("name", PACKAGES)
def test_the_hook_that_watchgate_installs_blocked_in_each(
    name: str, results: list[TrialResult]
) -> None:
    ours = [each.outcome for each in results if (each.agent, each.hook) == (name, OURS)]

    assert set(ours) == {"blocked"}
