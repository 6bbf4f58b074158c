"""Code of an agent's own making that would let itself run: denied in the end, and an alarm."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.identity.asking import Asking, decision
from tests.e2e.identity.loopback import Loopback
from tests.e2e.identity.test_proven import WAYS, Stage, daemon
from tests.e2e.programs import Core, until
from tests.e2e.standin import Agent
from watchgate.core.model.records import Record
from watchgate.core.state.state import State

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the shapes are those of Linux")

MANIFEST = '{"scripts": {"preinstall": "git push --force"}}'
TRIED: tuple[dict[str, Any], ...] = (
    {"verb": "off", "seconds": 3_600},
    {"verb": "stop"},
    {"verb": "revoke", "grant": "abcd"},
)
Start = Callable[[Stage, Agent, Asking], None]


def _by(way: str) -> Start:
    return lambda stage, agent, asking: agent.start(*WAYS[way][0](stage, asking))


def _at(stage: Stage, agent: Agent, asking: Asking) -> None:
    stage.ends.enter_context(daemon("atd", "-f"))
    script = stage.folder / "job.sh"
    script.write_text(f"{asking.command}\n")
    agent.start("at", "-f", str(script), "now")


def _ssh(stage: Stage, agent: Agent, asking: Asking) -> None:
    login = stage.ends.enter_context(Loopback(stage.folder))
    agent.start(*login.argv(asking.command))


# What is written, what then runs it, and how that reaches for the gate.
CHAINS: dict[str, tuple[str, str, str, Start]] = {
    "npm, a child": ("package.json", MANIFEST, "npm install", _by("child")),
    "npm, tmux run-shell": ("package.json", MANIFEST, "npm ci", _by("older tmux, run-shell")),
    "pip, setsid": ("setup.py", "import os", "pip install -e .", _by("setsid -f")),
    "cargo, double fork": (
        "build.rs",
        "fn main() {}",
        "cargo install --path .",
        _by("double fork"),
    ),
    "make, own tmux": ("Makefile", "all:\n\tgit push", "make", _by("own tmux server")),
    "a script, at": ("z.py", "import os", "python3 z.py", _at),
    "npm, ssh": ("evil/package.json", MANIFEST, "npm install ./evil", _ssh),
}


@pytest.fixture
def stage(core: Core, tmp_path: Path) -> Iterator[Stage]:
    """A core that nobody answers, and for so long that the machine may be busy."""
    core.configure("[approval]\ntimeout_s = 12\nunattended_timeout_s = 12\n")
    core.start()
    stage = Stage(core, tmp_path)
    if shutil.which("tmux"):
        stage.with_older_tmux()
    yield stage
    stage.ends.close()


@pytest.fixture
def agent(stage: Stage) -> Iterator[Agent]:
    """An agent that was started after the operator's own programs."""
    agent = Agent(stage.core)
    yield agent
    agent.end()


def call(tool: str, args: dict[str, Any], number: int) -> dict[str, Any]:
    """A call of a Claude that asks nobody."""
    return {
        "session_id": "s1",
        "hook_event_name": "PreToolUse",
        "permission_mode": "bypassPermissions",
        "cwd": "/src/demo",
        "tool_name": tool,
        "tool_input": args,
        "tool_use_id": f"t{number}",
    }


def held(core: Core, command: str) -> dict[str, Any] | None:
    """The request of this command, which may wait behind that of the file."""
    asked: list[dict[str, Any]] = core._told("list", what="requests")["requests"]
    return next((each for each in asked if each["summary"] == command), None)


def ending(core: Core, request: str) -> dict[str, Any] | None:
    """How it was decided, once it is."""
    decided = (each for each in core.records() if each["kind"] == "approval.decided")
    return next((each["data"] for each in decided if each["request"] == request), None)


@pytest.mark.parametrize("chain", CHAINS)
def test_a_chain_that_reaches_for_the_gate_ends_in_a_denial_and_an_alarm(
    stage: Stage, agent: Agent, chain: str
) -> None:
    path, content, command, start = CHAINS[chain]
    if "tmux" in chain and not shutil.which("tmux"):
        pytest.skip("no tmux")
    core = stage.core
    agent.hook(call("Write", {"file_path": f"/src/demo/{path}", "content": content}, 1))
    # The next call comes once the core knows of the file, as an agent's next step does.
    until(lambda: any(each["kind"] == "tool.pre" for each in core.records()), "the file's call")
    agent.hook(call("Bash", {"command": command}, 2))
    request = until(lambda: held(core, command), "a request")
    asking = Asking(core, stage.folder, decision(request, "allow"), *TRIED)
    start(stage, agent, asking)
    assert set(asking.refused()) <= {"self_approval", "locked"}

    ended = until(lambda: ending(core, request["id"]), "an end")
    assert ended["word"] in ("denied-by-timeout", "denied-no-approver")
    told = [each for each in core.records() if each["kind"] == "policy.refused"]
    assert [each["data"]["verb"] for each in told] == ["decide", "off", "stop", "revoke"]
    assert told[0]["request"] == request["id"]
    assert told[0]["data"]["summary"] == command
    assert any(each["data"].get("alarm") for each in told)
    state = State()
    for each in core.records():
        state.apply(Record(**each))
    (alarm,) = state.gate.tampered
    assert "tried to " in alarm.what
    assert alarm.what in core.cli("status").out
    assert json.loads(core.cli("status", "--json").out)["tampered"][0]["what"] == alarm.what


@pytest.mark.skipif(shutil.which("tmux") is None, reason="no tmux")
def test_an_operator_who_is_asked_for_the_pin_is_recorded_and_raises_no_alarm(
    stage: Stage, agent: Agent
) -> None:
    core = stage.core
    agent.hook(call("Bash", {"command": "git push --force"}, 1))
    (request,) = core.pending()
    asking = Asking(core, stage.folder, decision(request, "allow"))
    subprocess.run(stage.tmux(stage.older, "send-keys", f"{asking.command}\n"), check=True)
    assert asking.refused() == ["locked"]
    told = core.seen("policy.refused")["data"]
    assert (told["standing"], "alarm" in told) == ("locked", False)
    assert "ALARM" not in core.cli("status").out
