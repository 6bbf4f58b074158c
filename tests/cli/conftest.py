from __future__ import annotations

import json
import os
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from watchgate.cli import main
from watchgate.core.config.config import Config
from watchgate.link.core_socket import call_once
from watchgate.link.paths import Paths, paths
from watchgate.link.protocol import Request, Result
from watchgate.service.host.core_host import hosted
from watchgate.service.hub.core_environment import Environment
from watchgate.service.system.process_table import ancestors

WAIT_S = 60.0


class Said:
    """What a command printed and how it ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code = code
        self.out = out
        self.err = err

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines()]


Cli = Callable[..., Said]


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str]) -> Cli:
    """Runs one command in this process; stdin and stdout are no terminal here."""

    def run(*args: str) -> Said:
        capsys.readouterr()
        try:
            code = main(args)
        except SystemExit as ended:
            code = int(ended.code or 0)
        out, err = capsys.readouterr()
        return Said(code, out, err)

    return run


class Core:
    """A core in this process, and hook clients that wait for it."""

    def __init__(self, places: Paths) -> None:
        self.paths = places
        self._ids = iter(range(1, 100))
        self._hooks: list[socket.socket] = []

    def id(self) -> str:
        # The tests of one core tell its requests apart by their beginnings.
        return f"req{next(self._ids)}".ljust(26, "k")

    def hold(
        self, command: str = "git push --force", call: str = "c1", session: str = "s1"
    ) -> socket.socket:
        """A hook client whose call is held."""
        return self._hook(
            "gate",
            session_id=session,
            hook_event_name="PreToolUse",
            tool_name="Bash",
            tool_input={"command": command},
            tool_use_id=call,
        )

    def ask(self, tool: str, args: dict[str, Any]) -> socket.socket:
        """A hook client whose agent asks a person something."""
        return self._hook(
            "relay", hook_event_name="PermissionRequest", tool_name=tool, tool_input=args
        )

    def tell(self, session: str, event: str) -> None:
        """An event of a session that nobody waits for."""
        self._hook("observe", session_id=session, hook_event_name=event)

    def _hook(self, lane: str, **fields: Any) -> socket.socket:
        raw = json.dumps({"session_id": "s1", "cwd": "/srv/app", **fields}).encode()
        hook = socket.socket(socket.AF_UNIX)
        self._hooks.append(hook)
        hook.settimeout(WAIT_S)
        hook.connect(str(self.paths.ingest_socket))
        hook.sendall(b"watchgate/1 claude %s\nlength: %d\n\n" % (lane.encode(), len(raw)) + raw)
        return hook

    def end(self) -> None:
        for hook in self._hooks:
            hook.close()


@pytest.fixture
def config() -> Config:
    """What the core of a test is configured as."""
    return Config()


@pytest.fixture
def core(config: Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Core]:
    places = paths(os.environ)
    core = Core(places)
    stage = Environment(
        ids=core.id, home="/home/u", protected=(), agent_of=lambda _pid: None, scripted=True
    )
    with hosted(places, config, environment=stage):
        add = Request(id=1, verb="token", action="add", name="tests", risk="high")
        added = call_once(places.control_socket, add)
        assert isinstance(added, Result), added
        # What allows here without a terminal is a registered program.
        monkeypatch.setenv("WATCHGATE_TOKEN", added.ok["token"])
        yield core
    core.end()


@pytest.fixture
def core_of_our_agent() -> Iterator[Core]:
    """A core for which the agent that asks is this very process, so that commands run below it."""
    with _core_of_agent(os.getpid()) as core:
        yield core


@pytest.fixture
def core_of_another_agent() -> Iterator[Core]:
    """A core for which another process is the agent: terminals of now on are locked."""
    with subprocess.Popen(["sleep", "600"]) as agent, _core_of_agent(agent.pid) as core:
        yield core
        agent.kill()


@contextmanager
def _core_of_agent(pid: int) -> Iterator[Core]:
    places = paths(os.environ)
    core = Core(places)
    agent = ancestors(pid)[0]
    stage = Environment(ids=core.id, home="/home/u", protected=(), agent_of=lambda _pid: agent)
    with hosted(places, Config(), environment=stage):
        yield core
    core.end()


@pytest.fixture
def held(core: Core, cli: Cli) -> Callable[..., dict[str, Any]]:
    """Holds one more call; its line of `ls --json`."""

    def hold(command: str = "git push --force", call: str = "c1") -> dict[str, Any]:
        known = _ids(cli)
        core.hold(command, call)
        return _new(cli, known)

    return hold


@pytest.fixture
def asked(core: Core, cli: Cli) -> Callable[..., tuple[dict[str, Any], socket.socket]]:
    """Has a question put to a person; its line of `ls --json` and the hook that waits."""

    def ask(tool: str, args: dict[str, Any]) -> tuple[dict[str, Any], socket.socket]:
        known = _ids(cli)
        hook = core.ask(tool, args)
        return _new(cli, known), hook

    return ask


def _ids(cli: Cli) -> set[str]:
    return {line["id"] for line in cli("ls", "--json").lines}


def _new(cli: Cli, known: set[str]) -> dict[str, Any]:
    end = time.monotonic() + WAIT_S
    while time.monotonic() < end:
        fresh = [line for line in cli("ls", "--json").lines if line["id"] not in known]
        if fresh:
            return fresh[0]
        time.sleep(0.01)
    raise AssertionError("not held")
