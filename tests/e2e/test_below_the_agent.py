"""A command that an agent starts may stop the agent's own call, and never let it run."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import Core, bash, until
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
    allow = ("allow", request["id"], "--digest", request["digest"])
    for command in (allow, ("handback", request["id"])):
        code, err = agent.run(*command, shell=shell)
        assert (code, "self_approval" in err) == (1, True)
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
    code, err = agent.run("allow", asked["id"], "--digest", asked["digest"])
    assert (code, "self_approval" in err) == (1, True)
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


DETACHED = {
    "a double fork": "( {allow} & ) ; true",
    "a session of its own": "setsid sh -c '{allow}; true' & true",
    "no hang-up": "( nohup sh -c '{allow}; true' & ) ; true",
    "an empty environment": "( env -i PATH=$PATH {places} setsid sh -c '{allow}; true' & ) ; true",
    "a multiplexer": "env -u TMUX tmux -S {socket} -f /dev/null new-session -d '{allow}; true'",
}


@pytest.mark.skipif(sys.platform != "linux", reason="the tricks are those of Linux")
@pytest.mark.parametrize("trick", DETACHED)
def test_setting_a_command_adrift_does_not_let_it_allow(
    running: Core, agent: Agent, tmp_path: Path, trick: str
) -> None:
    if trick == "a multiplexer" and shutil.which("tmux") is None:
        pytest.skip("no tmux")
    agent.hook(bash("git push --force"))
    (request,) = running.pending()
    told = tmp_path / "told"
    allow = tmp_path / "allow.sh"
    allow.write_text(
        f"sleep 0.3\n{sys.executable} -m watchgate allow {request['id']} "
        f"--digest {request['digest']} > {told}.new 2>&1\necho $? >> {told}.new\n"
        f"mv {told}.new {told}\n"
    )
    names = [name for name in os.environ if name.startswith(("WATCHGATE_", "XDG_", "HOME"))]
    command = DETACHED[trick].format(
        allow=f"sh {allow}",
        places=" ".join(f"{name}={os.environ[name]}" for name in names),
        socket=running.runtime / "tmux",
    )
    agent.start("sh", "-c", command)
    *words, code = until(lambda: told.read_text() if told.exists() else None, "told").splitlines()
    assert code == "1"
    assert "locked: " in words[0]
    assert [each["id"] for each in running.pending()] == [request["id"]]


def test_another_agents_call_is_no_more_its_own(running: Core, agent: Agent) -> None:
    agent.hook(bash("git push --force", session="s2"))
    (own,) = running.pending()
    hook = running.hook("PreToolUse", bash("git push --force"))
    (request,) = [each for each in running.pending(2) if each["id"] != own["id"]]
    (answer,) = agent.stdio(_decision(request, "allow"))
    assert answer["refused"] == "self_approval"
    assert agent.run("deny", request["id"]) == (0, "")
    assert hook.done().code == 2
