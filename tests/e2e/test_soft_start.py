"""From watching to gating and back, while the core and its agents run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.e2e.programs import Core, bash
from tests.e2e.standin import Agent


def test_the_guard_is_switched_on_and_no_agent_switches_it_off(core: Core) -> None:
    soft = core.cli("install", "claude", "--watch")
    assert (soft.code, "NOT GATED" in soft.out) == (0, True)
    core.start()
    assert core.hook("PreToolUse", bash("git push --force")).done().code == 0
    switched = core.cli("guard", "on")
    assert (switched.code, "took it at once" in switched.out) == (0, True)
    agent = Agent(core)
    try:
        agent.hook(bash("git push --force"))
        (request,) = core.pending()
        (answer,) = agent.stdio({"verb": "profile", "profile": "watch"})
        assert answer["refused"] == "self_approval"
        assert agent.run("guard", "off")[0] != 0
        assert agent.run("deny", request["id"]) == (0, "")
    finally:
        agent.end()
    (told,) = core.cli("guard", "--json").lines
    assert (told["on"], told["profile"], told["core"]) == (True, "guard", "guard")
    assert Path(os.environ["WATCHGATE_CONFIG"]).read_text() == 'profile = "guard"\n'


@pytest.mark.parametrize(
    "command", [("install", "codex", "--watch"), ("uninstall", "claude"), ("uninstall", "--all")]
)
def test_what_ends_a_gate_is_for_no_agent(core: Core, command: tuple[str, ...]) -> None:
    config = Path(os.environ["WATCHGATE_CONFIG"])
    settings = Path(os.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    core.start()
    if command[0] == "uninstall":
        assert core.cli("install", "claude").code == 0
    before = settings.exists() and settings.read_bytes()
    agent = Agent(core)
    try:
        agent.hook(bash("git push --force"))
        (request,) = core.pending()
        code, said = agent.run(*command)
        assert (code, "Nothing was changed" in said) == (1, True)
        assert agent.run("deny", request["id"]) == (0, "")
    finally:
        agent.end()
    assert (settings.exists() and settings.read_bytes()) == before
    assert not config.exists()
    assert core.cli(*command).code == 0, "a person may"


def test_a_core_takes_a_changed_file_in_while_agents_ask(core: Core) -> None:
    core.start()
    core.configure("[approval]\ntimeout_s = 77\n")
    checked = core.cli("config", "check")
    assert "other values of approval.timeout_s: watchgate config reload" in checked.out
    hooks = [core.hook("PreToolUse", bash("ls")) for _ in range(5)]
    reload = core.cli("config", "reload")
    hooks += [core.hook("PreToolUse", bash("ls")) for _ in range(5)]
    assert [hook.done().code for hook in hooks] == [0] * len(hooks)
    assert (reload.code, reload.err) == (0, "")
    assert "In force now: approval.timeout_s" in reload.out
    assert "has all of it already" in core.cli("config", "reload").out


def test_a_file_that_holds_less_is_taken_in_by_a_person_alone(core: Core) -> None:
    core.start()
    core.configure('profile = "watch"\n')
    said = core.cli("config", "reload")
    assert (said.code, "a person has to type the word" in said.err) == (2, True)
    agent = Agent(core)
    try:
        agent.hook(bash("git push --force"))
        (request,) = core.pending()
        (answer,) = agent.stdio({"verb": "config", "action": "reload"})
        assert answer["refused"] == "self_approval"
        assert agent.run("deny", request["id"]) == (0, "")
    finally:
        agent.end()
    (told,) = core.cli("guard", "--json").lines
    assert (told["on"], told["profile"], told["core"]) == (False, "watch", "guard")
