"""The bubblewrap recipe of docs/security.md: the hooks work inside it, and nothing else is reached.

The commands are taken from the page. An agent's stand-in runs in the place of the real one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.programs import Core

PAGE = Path(__file__).resolve().parents[2] / "docs" / "security.md"

# Tries each way out of the wall, says what became of it, and then makes one call through its hook.
AGENT = """
import json, os, pathlib, socket, subprocess, sys
places, outside = json.loads(pathlib.Path("places.json").read_text()), {}
home = pathlib.Path.home()

def attempt(name, act):
    try:
        act()
        outside[name] = "done"
    except (OSError, subprocess.SubprocessError) as fault:
        outside[name] = type(fault).__name__

def connect(path):
    with socket.socket(socket.AF_UNIX) as link:
        link.connect(path)

def append(path):
    with open(path, "a") as file:
        file.write("x")

attempt("the control socket", lambda: connect(places["control"]))
attempt("the off switch", lambda: append(places["off"]))
attempt("the journal", lambda: open(places["journal"]).close())
attempt("its hook entries", lambda: append(places["settings"]))
attempt("the hook client", lambda: append(places["client"]))
attempt("the configuration", lambda: append(places["config"]))
attempt("the core's process", lambda: os.kill(places["core"], 0))
attempt("a multiplexer", lambda: connect(places["tmux"]))
attempt("its project", lambda: append("work.txt"))
hook = json.loads(pathlib.Path(places["settings"]).read_text())["hooks"]["PreToolUse"][0]
command = hook["hooks"][0]["command"]

def answer(tool_command):
    call = {"session_id": "s1", "cwd": os.getcwd(), "permission_mode": "default",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": tool_command,
            "tool_input": {"command": tool_command}}
    done = subprocess.run(["/bin/sh", "-c", command], input=json.dumps(call), text=True,
                          capture_output=True)
    return [done.returncode, done.stderr]

outside["harmless"] = answer("ls")
outside["grave"] = answer("git push --force")
print(json.dumps(outside))
"""


def recipe() -> str:
    """The commands of the page, with the agent as their last word."""
    section = PAGE.read_text().partition("## A wall that works today")[2]
    block = re.search(r"```sh\n(.*?)```", section, re.DOTALL)
    assert block is not None, "the page has lost its recipe"
    return block.group(1)


@pytest.fixture
def bubblewrap() -> None:
    """Skip where there is none, or where the kernel lets nobody make a namespace."""
    if shutil.which("bwrap") is None:
        pytest.skip("bubblewrap is not installed")
    done = subprocess.run(
        ["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "true"], capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"bubblewrap cannot be used here: {done.stderr.decode().strip()}")


@pytest.fixture
def multiplexer(tmp_path: Path) -> Iterator[Path]:
    """A terminal multiplexer of the operator's, older than the agent."""
    if shutil.which("tmux") is None:
        pytest.skip("tmux is not installed")
    socket = tmp_path / "tmux"
    subprocess.run(["tmux", "-S", socket, "-f", "/dev/null", "new", "-d", "cat"], check=True)
    yield socket
    subprocess.run(["tmux", "-S", socket, "kill-server"], check=False)


@pytest.mark.usefixtures("bubblewrap")
def test_inside_the_wall_the_hooks_work_and_the_gate_is_out_of_reach(
    running: Core, multiplexer: Path, tmp_path: Path
) -> None:
    home = Path(os.environ["HOME"])
    project = home / "project"
    (project / "bin").mkdir(parents=True)
    agent = project / "bin" / "claude"
    # The checkout may lie in /tmp, which is empty inside.
    agent.write_text(f"#!{os.path.realpath(sys.executable)}\n{AGENT}")
    agent.chmod(0o700)
    assert running.cli("install", "claude").code == 0
    assert running.process is not None
    places = {
        "control": str(running.runtime / "control.sock"),
        "off": str(running.runtime / "off"),
        "journal": str(Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"),
        "settings": str(home / ".claude" / "settings.json"),
        "client": str(next(Path(os.environ["XDG_DATA_HOME"]).rglob("client.py"))),
        "config": str(Path(os.environ["WATCHGATE_CONFIG"])),
        "core": running.process.pid,
        "tmux": str(multiplexer),
    }
    (project / "places.json").write_text(json.dumps(places))
    walled = subprocess.Popen(
        ["/bin/sh", "-ec", recipe()],
        cwd=project,
        env={**os.environ, "PATH": f"{agent.parent}:{os.environ['PATH']}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        (request,) = running.pending()
        assert request["summary"] == "git push --force"
        assert running.cli("deny", request["id"], "--reason", "not today").code == 0
    except AssertionError:
        walled.kill()
        raise AssertionError(walled.communicate()) from None
    out, err = walled.communicate(timeout=60)
    assert walled.returncode == 0, err.decode()
    outcome: dict[str, Any] = json.loads(out)
    assert outcome.pop("harmless") == [0, ""]
    code, reason = outcome.pop("grave")
    assert (code, "not today" in reason) == (2, True)
    assert outcome.pop("its project") == "done"
    assert [name for name, became in outcome.items() if became == "done"] == []
    assert (project / "work.txt").read_text() == "x"
