"""A person, not an age: who may let a call run, with real processes of every shape."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.identity.asking import PRESENCE, UNLOCK, Asking, Terminal, decision
from tests.e2e.identity.loopback import Loopback
from tests.e2e.programs import PIN, WAIT_S, Core, bash, until
from tests.e2e.standin import Agent

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the shapes are those of Linux")

PUSH = "git push --force"


class Stage:
    """What a way of starting a command may need, and what ends after the test."""

    def __init__(self, core: Core, folder: Path) -> None:
        self.core = core
        self.folder = folder
        self.ends = ExitStack()
        self.older = str(core.runtime / "older")
        self.own = str(core.runtime / "own")

    def tmux(self, socket: str, *words: str) -> list[str]:
        return ["env", "-u", "TMUX", "tmux", "-S", socket, "-f", "/dev/null", *words]

    def with_older_tmux(self) -> None:
        """A multiplexer of the operator's, before any agent."""
        subprocess.run(self.tmux(self.older, "new-session", "-d", "sh"), check=True)
        self.ends.callback(self.end_tmux, self.older)

    def end_tmux(self, socket: str) -> None:
        subprocess.run(self.tmux(socket, "kill-server"), check=False, capture_output=True)


def _child(_stage: Stage, asking: Asking) -> list[str]:
    return asking.argv


def _double_fork(_stage: Stage, asking: Asking) -> list[str]:
    return ["sh", "-c", f"( sleep 0.2; {asking.command}; true ) & exit 0"]


def _setsid(_stage: Stage, asking: Asking) -> list[str]:
    return ["setsid", "-f", "sh", "-c", f"sleep 0.2; {asking.command}; true"]


def _no_hang_up(_stage: Stage, asking: Asking) -> list[str]:
    return ["sh", "-c", f"( nohup sh -c 'sleep 0.2; exec \"$@\"' sh {asking.command} & )"]


def _bare(_stage: Stage, asking: Asking) -> list[str]:
    bare = f"env -i PATH=$PATH setsid sh -c 'sleep 0.2; exec \"$@\"' sh {asking.command}"
    return ["sh", "-c", f"( {bare} & )"]


def _own_tmux(stage: Stage, asking: Asking) -> list[str]:
    stage.ends.callback(stage.end_tmux, stage.own)
    return stage.tmux(stage.own, "new-session", "-d", asking.command)


def _new_window(stage: Stage, asking: Asking) -> list[str]:
    return stage.tmux(stage.older, "new-window", "-d", asking.command)


def _run_shell(stage: Stage, asking: Asking) -> list[str]:
    return stage.tmux(stage.older, "run-shell", "-b", asking.command)


Way = Callable[[Stage, Asking], list[str]]
WAYS: dict[str, tuple[Way, set[str]]] = {
    "child": (_child, {"self_approval"}),
    "double fork": (_double_fork, {"locked"}),
    "setsid -f": (_setsid, {"locked"}),
    "no hang-up": (_no_hang_up, {"locked"}),
    "an empty environment": (_bare, {"locked"}),
    "own tmux server": (_own_tmux, {"locked"}),
    "older tmux, new-window": (_new_window, {"locked"}),
    "older tmux, run-shell": (_run_shell, {"locked"}),
}


@pytest.fixture
def stage(running: Core, tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(running, tmp_path)
    if shutil.which("tmux"):
        stage.with_older_tmux()
    yield stage
    stage.ends.close()


def held(core: Core, agent: Agent, call: str = "c1") -> dict[str, Any]:
    """A call of the agent's that waits."""
    agent.hook(bash(PUSH, call))
    (request,) = core.pending()
    return request


@pytest.mark.parametrize("pin", [False, True], ids=["without a PIN", "with a PIN"])
@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_an_agent_starts_allows_and_everything_denies(
    stage: Stage, agent: Agent, way: str, *, pin: bool
) -> None:
    if "tmux" in way and not shutil.which("tmux"):
        pytest.skip("no tmux")
    core = stage.core
    if pin:
        core._told("pin", action="set", pin=PIN)
    request = held(core, agent)
    start, codes = WAYS[way]
    asking = Asking(
        core, stage.folder, decision(request, "allow"), {"verb": "off"}, decision(request, "deny")
    )
    agent.start(*start(stage, asking))
    allow, off, deny = asking.refused()
    assert {allow, off} <= codes
    assert deny == ""
    decided = core.seen("approval.decided")["data"]
    assert decided["by"].startswith("somebody (pid ")
    assert decided["actor"]["standing"] == "unproven"
    assert decided["actor"]["chain"][0]["pid"] == decided["actor"]["pid"]


def test_a_window_that_was_open_before_the_agent_allows_without_a_pin(
    stage: Stage, window: Terminal, agent: Agent
) -> None:
    request = held(stage.core, agent)
    asking = window.run(Asking(stage.core, stage.folder, PRESENCE, decision(request, "allow")))
    stands, allowed = asking.answers()
    assert stands["ok"]["standing"] == "clear", stands
    assert "ok" in allowed, allowed
    actor = stage.core.seen("approval.decided")["data"]["actor"]
    assert actor["standing"] == "clear"
    assert actor["tty"].startswith("pts/")


def test_a_terminal_that_was_opened_afterwards_allows_after_one_pin(
    stage: Stage, window: Terminal, agent: Agent
) -> None:
    core = stage.core
    first = held(core, agent)
    setting = Asking(core, stage.folder, {"verb": "pin", "action": "set", "pin": PIN})
    assert window.run(setting).refused() == [""]
    later = Terminal()
    try:
        asked = [decision(first, "allow"), UNLOCK, decision(first, "allow")]
        assert later.run(Asking(core, stage.folder, *asked)).refused() == ["locked", "", ""]
        until(lambda: core.pending(0) == [] or None, "an end of the first")
        second = held(core, agent, "c2")
        again = later.run(Asking(core, stage.folder, decision(second, "allow")))
        assert again.refused() == [""], "one PIN for a terminal"
    finally:
        later.close()


def test_a_pane_of_an_older_tmux_allows_after_one_pin(
    stage: Stage, window: Terminal, agent: Agent
) -> None:
    core = stage.core
    request = held(core, agent)
    setting = Asking(core, stage.folder, {"verb": "pin", "action": "set", "pin": PIN})
    assert window.run(setting).refused() == [""]
    asked = [decision(request, "allow"), UNLOCK, PRESENCE, decision(request, "allow")]
    asking = Asking(core, stage.folder, *asked)
    subprocess.run(stage.tmux(stage.older, "send-keys", f"{asking.command}\n"), check=True)
    locked, _, stands, allowed = asking.answers()
    assert locked["refused"] == "locked"
    assert "tmux" in locked["message"]
    assert stands["ok"]["standing"] == "pin"
    assert "ok" in allowed


@contextmanager
def daemon(*argv: str) -> Iterator[subprocess.Popen[bytes]]:
    """A system's daemon that runs as long as the block does; skips where it cannot."""
    if shutil.which(argv[0]) is None or os.geteuid() != 0:
        pytest.skip(f"no {argv[0]} that may be started here")
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            yield running
        finally:
            running.terminate()


def test_a_job_of_at_allows_nothing(stage: Stage, tmp_path: Path) -> None:
    with daemon("atd", "-f"):
        agent = Agent(stage.core)
        try:
            request = held(stage.core, agent)
            asked = [decision(request, "allow"), decision(request, "deny")]
            asking = Asking(stage.core, tmp_path, *asked)
            script = tmp_path / "job.sh"
            script.write_text(f"{asking.command}\n")
            agent.start("at", "-f", str(script), "now")
            assert asking.refused() == ["locked", ""]
        finally:
            agent.end()


def test_a_job_of_crons_allows_nothing(stage: Stage, tmp_path: Path) -> None:
    job = Path("/etc/cron.d/watchgate-tests")
    if not job.parent.is_dir():
        pytest.skip("no cron")
    with daemon("cron", "-f") as cron:
        agent = Agent(stage.core)
        try:
            # Cron starts it within a minute, which is as long as a call waits: so it comes first.
            began, script, rest = tmp_path / "began", tmp_path / "job.sh", tmp_path / "rest.sh"
            script.write_text(
                f"mkdir {began} || exit 0\nuntil [ -e {rest} ]; do sleep 0.1; done\nsh {rest}\n"
            )
            # Whole and with its rights at once: cron does not read a file of the same second again,
            # and none that others may write. It passes over names with a dot.
            draft = job.with_name(f"{job.name}.draft")
            draft.write_text(f"* * * * * root sh {script}\n")
            draft.chmod(0o644)
            draft.rename(job)
            until(lambda: began.exists() or cron.poll() is not None, "the job", within_s=3 * WAIT_S)
            if cron.poll() is not None:
                pytest.skip(f"cron ended by itself with code {cron.poll()}: another one runs here")
            request = held(stage.core, agent)
            asked = [decision(request, "allow"), decision(request, "deny")]
            asking = Asking(stage.core, tmp_path, *asked)
            (tmp_path / "written.sh").write_text(f"{asking.command}\n")
            (tmp_path / "written.sh").rename(rest)
            assert asking.refused()[0] == "locked"
        finally:
            job.unlink(missing_ok=True)
            agent.end()


def test_an_ssh_login_from_this_machine_allows_nothing(stage: Stage, tmp_path: Path) -> None:
    with Loopback(tmp_path) as login:
        agent = Agent(stage.core)
        try:
            request = held(stage.core, agent)
            asked = [decision(request, "allow"), {"verb": "off"}, decision(request, "deny")]
            asking = Asking(stage.core, tmp_path, *asked)
            agent.start(*login.argv(asking.command))
            assert asking.refused() == ["locked", "locked", ""]
        finally:
            agent.end()


# An editor: the agent's hook below one child of the main process, its commands below another.
HOST = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
TERMINALS = """
import os, pty, sys
pid, _ = pty.fork()
if not pid:
    os.execvp(sys.argv[1], sys.argv[1:])
os.waitpid(pid, 0)
"""
EDITOR = """
import json, subprocess, sys
running = []
for line in sys.stdin:
    child, argv, text = json.loads(line)
    pipe, nowhere = subprocess.PIPE, subprocess.DEVNULL
    below = subprocess.Popen([sys.executable, "-c", child, *argv], stdin=pipe, stdout=nowhere)
    below.stdin.write(text.encode())
    below.stdin.close()
    running.append(below)
"""


def test_the_commands_of_an_editors_agent_allow_nothing(stage: Stage, tmp_path: Path) -> None:
    core = stage.core
    with subprocess.Popen([sys.executable, "-c", EDITOR], stdin=subprocess.PIPE, text=True) as main:
        assert main.stdin is not None

        def start(child: str, argv: list[str], text: str = "") -> None:
            assert main.stdin is not None
            main.stdin.write(json.dumps([child, argv, text]) + "\n")
            main.stdin.flush()

        try:
            start(HOST, core.client("PreToolUse"), json.dumps(bash(PUSH)))
            (request,) = core.pending()
            asked = [PRESENCE, decision(request, "allow"), decision(request, "deny")]
            asking = Asking(core, tmp_path, *asked)
            start(TERMINALS, asking.argv)
            stands, allow, deny = asking.answers()
            assert stands["ok"]["standing"] == "locked"
            assert stands["ok"]["tty"].startswith("pts/")
            assert allow["refused"] == "locked"
            assert "ok" in deny
        finally:
            main.stdin.close()
            main.send_signal(signal.SIGTERM)


SWITCHES: tuple[dict[str, Any], ...] = (
    {"verb": "off", "seconds": 3_600},
    {"verb": "stop"},
    {"verb": "purge", "agent": "claude", "session": "s1"},
    {"verb": "policy", "action": "reload"},
    {"verb": "revoke", "grant": "abcd"},
    {"verb": "pin", "action": "set", "pin": "654321"},
    {"verb": "token", "action": "add", "name": "mine", "risk": "high"},
)


@pytest.mark.parametrize("damage", ["as it was", "damaged", "removed"])
def test_a_core_that_was_killed_and_started_again_knows_who_the_agents_are(
    stage: Stage, agent: Agent, damage: str
) -> None:
    core = stage.core
    held(core, agent)
    state = Path(os.environ["WATCHGATE_STATE_DIR"]) / "agents.json"
    assert str(agent.process.pid) in state.read_text(), "from before its first call was held"
    core.records()  # which are all on the disk then
    core.kill()
    if damage == "damaged":
        state.write_text("{")
    elif damage == "removed":
        state.unlink()
    core.start()
    below = Asking(core, stage.folder, *SWITCHES)
    agent.start(*below.argv)
    assert set(below.refused()) <= {"self_approval", "locked"}
    adrift = Asking(core, stage.folder, *SWITCHES)
    agent.start(*_double_fork(stage, adrift))
    assert set(adrift.refused()) == {"locked"}
    assert not (core.runtime / "off").exists()
    again = held(core, agent, "c2")
    later = Asking(core, stage.folder, decision(again, "allow"), decision(again, "deny"))
    agent.start(*_double_fork(stage, later))
    assert later.refused() == ["locked", ""]


# Asks once the file GO is there, from a child: whatever an agent left behind can wait.
LATER = 'while [ ! -e "$0" ]; do sleep 0.05; done; sh -c "$1; true"; true'


@pytest.mark.parametrize("terminal", [False, True], ids=["no terminal", "a terminal of its own"])
def test_what_an_earlier_agent_left_behind_allows_nothing_of_a_later_one(
    stage: Stage, *, terminal: bool
) -> None:
    core, go, script = stage.core, stage.folder / "go", stage.folder / "later.sh"
    agent = Agent(core)
    held(core, agent)
    waiting = ["sh", "-c", LATER, str(go), f"sh {script}"]
    own = ["script", "-qc", shlex.join(waiting), "/dev/null"] if terminal else waiting
    agent.start("-f", "sh", "-c", 'exec "$@" </dev/null >/dev/null 2>&1', "sh", *own)
    agent.end()
    until(lambda: core.pending(0) == [] or None, "an end of its call")
    later = Agent(core)
    try:
        request = held(core, later, "c2")
        asked = [PRESENCE, decision(request, "allow"), *SWITCHES, decision(request, "deny")]
        asking = Asking(core, stage.folder, *asked)
        script.write_text(f"{asking.command}\n")
        go.touch()
        _, *refused, deny = asking.refused()
        assert set(refused) == {"locked"}
        assert deny == ""
    finally:
        later.end()


# Stands for a server that reloads, a test runner, git: it runs what a file says.
RELOADS = """
import os, subprocess, sys, time
while not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
subprocess.run(["sh", sys.argv[1]])
"""


def test_an_older_program_that_runs_what_a_file_says_allows_nothing(
    stage: Stage, window: Terminal, tmp_path: Path
) -> None:
    core, script = stage.core, tmp_path / "reloaded.sh"
    window.type(shlex.join([sys.executable, "-c", RELOADS, str(script)]))
    until(lambda: window.runs(sys.executable), "the server")
    agent = Agent(core)
    try:
        request = held(core, agent)
        asked = [PRESENCE, decision(request, "allow"), *SWITCHES, decision(request, "deny")]
        asking = Asking(core, tmp_path, *asked)
        ready = tmp_path / "reloaded.new"
        ready.write_text(f"{asking.command}\n")
        ready.rename(script)
        stands, *refused, deny = asking.answers()
        assert stands["ok"]["standing"] == "locked"
        assert "runs what files say" in stands["ok"]["why"]
        assert {each.get("refused") for each in refused} == {"locked"}
        assert "ok" in deny
    finally:
        agent.end()
