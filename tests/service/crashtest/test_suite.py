"""The hooks that an agent is tried with, and what the results come to."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from watchgate.service.crashtest.agent_driver import REASON, AgentDriver
from watchgate.service.crashtest.agent_drivers import DRIVERS
from watchgate.service.crashtest.misbehaving_hooks import fill_in
from watchgate.service.crashtest.trial import (
    OURS,
    TrialOutcome,
    TrialResult,
    conclusion,
    matching_hooks,
    trials,
)


def agent(name: str) -> AgentDriver:
    return DRIVERS[name](Path("/no/agent"), "1.2.3")


def result(hook: str, outcome: TrialOutcome) -> TrialResult:
    return TrialResult(agent="claude", version="1.2.3", hook=hook, about="", outcome=outcome)


@pytest.mark.parametrize("name", DRIVERS)
def test_the_controls_come_first_and_our_own_hook_last(name: str) -> None:
    planned = trials(agent(name), matching_hooks(agent(name).odd, ""), 2)

    assert [each.must for each in planned[:2]] == ["ran", "blocked"]
    assert all(each.must is None for each in planned[2:])
    assert "Watchgate" in planned[-1].about


@pytest.mark.parametrize("name", DRIVERS)
def test_every_hook_is_told_apart_and_filled_in(name: str, tmp_path: Path) -> None:
    """A folder with blanks and quotes in its name is as good as any other."""
    top = tmp_path / "it's a place"
    hooks = (agent(name).odd.denies, *agent(name).odd.hooks)

    assert len({each.id for each in hooks}) == len({each.label for each in hooks}) == len(hooks)
    for each in hooks:
        text = fill_in(each.command + each.script, top, agent(name).deny, REASON)
        assert not re.search(r"@[A-Z_]+@", text)


def test_some_hooks_are_chosen_by_a_word_of_their_name() -> None:
    chosen = matching_hooks(agent("claude").odd, "STDERR")

    assert [each.id for each in chosen] == ["deny-stderr"]
    assert matching_hooks(agent("claude").odd, "nonsense") == ()


def test_what_failed_open_is_told_with_what_watchgate_does() -> None:
    """Hooks that are met in the same way are told together."""
    found = [result("exit-1", "ran"), result("exit-3", "ran"), result("hangs", "blocked")]
    told = conclusion(
        agent("claude"), [*found, result("garbage", "unknown"), result(OURS, "blocked")]
    )

    assert told[0] == "claude 1.2.3 fails open with 2 of 4 hooks; 1 not known."
    assert [line[:13] for line in told[1:3]] == ["- crashes, ex", "- crashes, ex"]
    assert told[3].startswith("  Watchgate's hook: its command is guarded")
    assert told[4:] == ["Watchgate's own hook, with no core to ask: the call was blocked."]


def test_a_hook_of_ours_that_lets_a_call_run_is_not_passed_over() -> None:
    told = conclusion(agent("claude"), [result(OURS, "ran")])

    assert told[-1].startswith("WATCHGATE'S OWN HOOK LET THE CALL RUN")
