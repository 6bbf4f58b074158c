from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.cli.conftest import Cli, Core
from watchgate import client
from watchgate.agents.registry import adapter, closed_template
from watchgate.cli.base.printing import Exit
from watchgate.link.paths import Paths

PAYLOAD = json.dumps(
    {
        "session_id": "s1",
        "hook_event_name": "PreToolUse",
        "cwd": "/srv/app",
        "tool_name": "Bash",
        "tool_input": {"command": "make test"},
    }
).encode()


def hook(*args: str, payload: bytes = PAYLOAD) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "watchgate", "hook", *args]
    return subprocess.run(command, input=payload, capture_output=True, timeout=60)


def installed(paths: Paths, lane: str) -> subprocess.CompletedProcess[bytes]:
    template = closed_template(adapter("claude"), "PreToolUse") if lane == "gate" else ""
    command = [sys.executable, "-I", "-S", client.__file__, str(paths.ingest_socket)]
    return subprocess.run(
        [*command, "claude", lane, "PreToolUse", "60", template],
        input=PAYLOAD,
        capture_output=True,
        timeout=60,
    )


@pytest.mark.parametrize("lane", ["gate", "gate-read", "relay", "observe"])
def test_it_behaves_as_the_installed_client_without_a_core(core: Core, cli: Cli, lane: str) -> None:
    cli("stop")
    while cli("status").code == Exit.DONE:
        pass
    mine, theirs = hook("claude", "--lane", lane), installed(core.paths, lane)
    assert (mine.returncode, mine.stdout, mine.stderr) == (
        theirs.returncode,
        theirs.stdout,
        theirs.stderr,
    )
    assert (mine.returncode == 2) == (lane == "gate")


def test_what_is_not_held_is_handed_back(core: Core, cli: Cli) -> None:
    done = hook("claude", "--lane", "gate")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (session,) = cli("ls", "--sessions", "--json").lines
    assert session["session"] == "s1"


def test_a_denial_comes_out_in_the_agents_own_shape(core: Core) -> None:
    done = hook("claude", "--lane", "gate", payload=b"no json")
    assert done.returncode == 2
    said = json.loads(done.stdout)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"].encode() in done.stderr


@pytest.mark.parametrize(
    "args",
    [
        ("hal", "--lane", "gate"),
        ("claude",),
        ("claude", "--lane", "fast"),
        ("claude", "--lane", "gate", "--deadline-s", "0"),
        ("claude", "--lane", "gate", "--deadline-s", "nan"),
        ("claude", "--lane", "gate", "--deadline-s", "soon"),
    ],
)
def test_usage_errors_exit_2_with_their_cause(cli: Cli, args: tuple[str, ...]) -> None:
    said = cli("hook", *args)
    assert said.code == Exit.USAGE
    assert said.err
    assert said.out == ""
