"""Whatever agent we install into: the settings that hold our hooks are guarded by the policy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.core.policy.calls import judge_command, judge_tool, rules
from watchgate.agents.registry import ADAPTERS, BUILT_IN, adapter


def _settings() -> Iterator[tuple[str, str]]:
    for name in BUILT_IN:
        setup = adapter(name).setup
        if setup is None:
            continue
        user = PurePosixPath(setup.user)
        found = [setup.user, setup.project]
        if setup.silencers is not None:
            # Its files lie where the agent keeps all its settings: `~/.name`.
            home = PurePosixPath(*user.parts[:2])
            found += [str(home / each) for each in setup.silencers.home]
            found += [*setup.silencers.project, *setup.silencers.system]
        for path in dict.fromkeys(filter(None, found)):
            yield name, path


SETTINGS = list(_settings())
HOOKS_OFF = [
    (program, flag)
    for name in BUILT_IN
    if (setup := adapter(name).setup) is not None
    for program in setup.process
    for flag in setup.hooks_off
]


def test_every_built_in_agent_is_looked_at() -> None:
    assert set(BUILT_IN) == set(ADAPTERS)
    assert len({name for name, _ in SETTINGS}) >= 10


@pytest.mark.parametrize(("agent", "path"), SETTINGS)
def test_changing_the_settings_that_hold_our_hooks_is_critical(agent: str, path: str) -> None:
    edited = judge_tool("Edit", "edit", {"file_path": path})
    assert edited.risk == "critical", agent
    assert "own.edit" in rules(edited)
    written = judge_command(f"cp x '{path}'" if " " in path else f"cp x {path}")
    assert written.risk == "critical", agent
    assert "own.files" in rules(written)


@pytest.mark.parametrize(("program", "flag"), HOOKS_OFF)
def test_starting_an_agent_without_its_hooks_is_high(program: str, flag: str) -> None:
    found = judge_command(f"{program} {flag} -p hello")
    assert found.risk == "high"
    assert "own.unwatched" in rules(found)
