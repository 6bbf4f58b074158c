"""A command that an agent starts may stop the agent's own call, and never let it run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.e2e.programs import Core, bash
from tests.e2e.standin import Agent


@pytest.fixture
def agent(running: Core) -> Iterator[Agent]:
    agent = Agent(running)
    yield agent
    agent.end()


@pytest.mark.parametrize("shell", [False, True])
def test_it_may_not_allow_or_hand_back_but_deny(running: Core, agent: Agent, shell: bool) -> None:
    agent.hook(bash("git push --force"))
    (request,) = running.pending()
    for decision in ("allow", "handback"):
        (answer,) = agent.stdio(_decision(request, decision))
        assert answer["refused"] == "self_approval"
    allow = ("allow", request["id"], "--digest", request["digest"])
    for command in (allow, ("handback", request["id"])):
        assert agent.run(*command, shell=shell)[0] != 0
    assert [each["id"] for each in running.pending()] == [request["id"]]
    assert agent.run("deny", request["id"], shell=shell) == (0, "")
    assert running.seen("approval.decided")["data"]["word"] == "denied-by-operator"


PROGRAM = """
from watchgate.client_api import Gate
Gate("etl").ask("Bash", {"command": "git push --force"}, tool_class="shell")
"""


@pytest.mark.parametrize("detached", [False, True])
def test_nor_what_a_program_of_its_own_asks(running: Core, agent: Agent, detached: bool) -> None:
    agent.hook(bash("git push --force"))
    (own,) = running.pending()
    argv = [sys.executable, "-c", PROGRAM]
    if detached:
        agent.start("/bin/sh", "-c", '"$@" > /dev/null 2>&1 &', "sh", *argv)
    else:
        agent.begin(*argv)
    asked = next(each for each in running.pending(2) if each["id"] != own["id"])
    (answer,) = agent.stdio(_decision(asked, "allow"))
    assert answer["refused"] == "self_approval"
    assert running.allow(asked).code == 0, "whoever is not below the agent may"


def _decision(request: dict[str, Any], decision: str) -> dict[str, Any]:
    named = {"request": request["id"], "digest": request["digest"]}
    return {"verb": "decide", "decision": decision, "shown_ms": 9_000, "confirmed": True, **named}


def test_nor_through_the_door_for_consoles_elsewhere(running: Core, agent: Agent) -> None:
    agent.hook(bash("git push --force"))
    (request,) = running.pending()
    for decision in ("allow", "handback"):
        (answer,) = agent.stdio(_decision(request, decision))
        assert answer["refused"] == "self_approval"
    assert [answer["refused"] for answer in agent.stdio({"verb": "off"})] == ["self_approval"]
    (answer,) = agent.stdio(_decision(request, "deny"))
    assert "ok" in answer


def test_a_core_that_was_started_through_that_door_is_nobodys(core: Core) -> None:
    agent = Agent(core)
    try:
        agent.stdio({"verb": "hello"})
        core.prove()
        agent.hook(bash("git push --force"))
        (request,) = core.pending()
        (answer,) = agent.stdio(_decision(request, "allow"))
        assert answer["refused"] == "self_approval"
        assert core.allow(request).code == 0, "whoever is not below the agent may"
    finally:
        agent.end()
        assert core.cli("stop").code == 0, "it outlived the agent"


def test_another_agents_call_is_no_more_its_own(running: Core, agent: Agent) -> None:
    agent.hook(bash("git push --force", session="s2"))
    (own,) = running.pending()
    hook = running.hook("PreToolUse", bash("git push --force"))
    (request,) = [each for each in running.pending(2) if each["id"] != own["id"]]
    (answer,) = agent.stdio(_decision(request, "allow"))
    assert answer["refused"] == "self_approval"
    assert agent.run("deny", request["id"]) == (0, "")
    assert hook.done().code == 2
