"""docs/agents.md is what the adapters say, and names a version for every agent that was run."""

from __future__ import annotations

import pytest

from scripts.agents_table import DOCUMENT, NOT_RUN, README, render, summary, verified
from tests.agents_real.harness.packages import PACKAGES
from watchgate.agents.registry import ADAPTERS


def test_the_document_is_what_the_adapters_say() -> None:
    assert DOCUMENT.read_text() == render(ADAPTERS, PACKAGES), "run `make agents-table`"


def test_the_readme_has_a_line_for_every_agent() -> None:
    assert summary(ADAPTERS, PACKAGES) in README.read_text(), "run `make agents-table`"
    assert len(summary(ADAPTERS, PACKAGES).splitlines()) == len(ADAPTERS) + 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("claude", "yes; plan: it may, or ask again"),
        ("codex", "yes, in its sandbox if any"),
        ("copilot", "yes"),
        ("gemini", "its own rules do"),
        ("opencode", "yes; headless: it may, or refuse"),
        ("acp", "yes"),
    ],
)
def test_a_yes_runs_a_held_call_only_where_its_gate_can_tell_it(name: str, told: str) -> None:
    row = summary({name: ADAPTERS[name]}, PACKAGES).splitlines()[-1]

    assert row.split("|")[3].strip() == told


def test_a_change_of_what_an_agent_can_be_told_is_noticed() -> None:
    claude = {"claude": ADAPTERS["claude"]}

    assert "| yes | yes | its own rules | yes |" in render(claude, PACKAGES)
    assert NOT_RUN in render(claude, {})


@pytest.mark.parametrize("name", ADAPTERS)
def test_an_agent_that_was_never_run_says_so(name: str) -> None:
    adapter = ADAPTERS[name]

    assert adapter.experimental is (verified(name, PACKAGES) == NOT_RUN)


@pytest.mark.parametrize("name", PACKAGES)
def test_every_agent_that_is_driven_is_one_that_watchgate_knows(name: str) -> None:
    assert name in ADAPTERS
    assert PACKAGES[name].version in DOCUMENT.read_text()
