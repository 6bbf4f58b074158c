"""A command that an agent starts may stop the agent's own call, and never let it run."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import Core, bash, until

# Stands for an agent: each line on its stdin is a command to start, with the stdin to give it.
# A hook client runs on; of any other command the end is reported.
STAND_IN = """
import json, subprocess, sys
pipe = subprocess.PIPE
for line in sys.stdin:
    argv, text, waits = json.loads(line)
    child = subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe, text=True)
    if waits:
        out, err = child.communicate(text)
        print(json.dumps([child.returncode, out, err]), flush=True)
    else:
        hook = child
        hook.stdin.write(text)
        hook.stdin.close()
hook.kill()
hook.wait()
"""


class Agent:
    """A stand-in for an agent, and what it starts."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.process = subprocess.Popen(
            [sys.executable, "-c", STAND_IN],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def _start(self, argv: list[str], text: str, *, waits: bool) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps([argv, text, waits]) + "\n")
        self.process.stdin.flush()

    def hook(self, payload: dict[str, Any]) -> None:
        self._start(self._core.client("PreToolUse"), json.dumps(payload), waits=False)

    def run(self, *args: str, shell: bool = False) -> tuple[int, str]:
        """Exit code and stderr of a `watchgate` command that the agent starts."""
        argv = [sys.executable, "-m", "watchgate", *args]
        if shell:
            argv = ["/bin/sh", "-c", '"$@"; exit $?', "sh", *argv]
        self._start(argv, "", waits=True)
        assert self.process.stdout is not None
        code, _, err = json.loads(self.process.stdout.readline())
        return code, err

    def stdio(self, *requests: dict[str, Any]) -> list[dict[str, Any]]:
        """The answers to requests that a `watchgate stdio` of the agent's passes on."""
        lines = "".join(json.dumps({"id": 1, **each}) + "\n" for each in requests)
        self._start([sys.executable, "-m", "watchgate", "stdio"], lines, waits=True)
        assert self.process.stdout is not None
        code, out, err = json.loads(self.process.stdout.readline())
        assert code == 0, err
        return [each for each in map(json.loads, out.splitlines()) if "id" in each]

    def begin(self, *argv: str) -> None:
        """A command that the agent starts and does not wait for."""
        self._start(list(argv), "", waits=False)

    def start(self, *argv: str) -> None:
        """A command that the agent starts and waits for, in a session of its own."""
        self._start(["setsid", *argv], "", waits=True)
        assert self.process.stdout is not None
        assert json.loads(self.process.stdout.readline())[0] == 0

    def end(self) -> None:
        self.process.communicate()


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
    assert "self_approval" in words[0]
    assert [each["id"] for each in running.pending()] == [request["id"]]


def test_another_agents_call_is_not_its_own(running: Core, agent: Agent) -> None:
    hook = running.hook("PreToolUse", bash("git push --force"))
    (request,) = running.pending()
    code, _ = agent.run("allow", request["id"], "--digest", request["digest"])
    assert code == 0
    assert hook.done().code == 0
