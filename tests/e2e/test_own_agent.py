"""An agent that only a TOML file knows: held and denied by a core, and closed without one."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.programs import AGENT, Core, Hook

PAGE = Path(__file__).parents[2] / "docs" / "adding-an-agent.md"
CALL = {
    "hook": "before_call",
    "chat": {"id": "c-1", "folders": ["/srv/app"]},
    "call": {"id": "7", "tool": "run", "arguments": {"command": "git push --force"}},
}


@pytest.fixture(autouse=True)
def nova() -> None:
    """The table of docs/adding-an-agent.md, where a user would put it."""
    (table,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    folder = Path(os.environ["WATCHGATE_CONFIG"]).with_name("agents.d")
    folder.mkdir(parents=True, mode=0o700)
    (folder / "nova.toml").write_text(table)


def by_hand(core: Core) -> Hook:
    """`watchgate hook nova`, started by what stands for the agent."""
    command = [sys.executable, "-m", "watchgate", "hook", "nova", "--lane", "gate"]
    core.hooks.append(Hook([sys.executable, "-c", AGENT, *command], json.dumps(CALL).encode()))
    return core.hooks[-1]


def test_its_call_is_held_and_denied_in_its_own_bytes(core: Core) -> None:
    core.start()
    hook = by_hand(core)
    (request,) = core.pending()

    assert (request["agent"], request["session"], request["tool"]) == ("nova", "c-1", "Bash")
    assert core.cli("deny", request["id"], "--reason", "not today").code == 0
    done = hook.done()
    assert re.fullmatch(r'\{"verdict":"refuse","why":"[^"]*not today[^"]*"\}', done.out)
    assert (done.code, done.err) == (2, "")


def test_its_call_is_held_and_allowed_in_its_own_bytes(core: Core) -> None:
    core.start()
    hook = by_hand(core)
    (request,) = core.pending()

    assert core.allow(request).code == 0
    done = hook.done()
    assert (done.code, done.out, done.err) == (0, '{"verdict":"proceed"}', "")


def test_without_a_core_its_own_denial_is_printed(core: Core) -> None:
    done = by_hand(core).done()

    told = json.loads(done.out)
    assert done.code == 2
    assert list(told) == ["verdict", "why"]
    assert told["verdict"] == "refuse"
    assert "core is not running" in told["why"]
    assert "not a refusal by a person" in done.err


def test_installed_it_denies_the_same_way(core: Core) -> None:
    assert core.cli("install", "nova").code == 0
    hooks = json.loads((Path(os.environ["HOME"]) / ".nova" / "hooks.json").read_text())["hooks"]
    command = hooks["before_call"][0]["hooks"][0]["command"]

    done = subprocess.run(
        ["/bin/sh", "-c", command], input=json.dumps(CALL).encode(), capture_output=True, timeout=60
    )

    assert done.returncode == 2
    assert json.loads(done.stdout)["verdict"] == "refuse"
