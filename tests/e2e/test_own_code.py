"""Code that an agent wrote does not run unasked where nobody sits in front of it.

The chain: it writes a manifest, then installs by it. Nobody answers, so it is denied.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.e2e.programs import Core, Hook


def hooked(core: Core, tool: str, args: dict[str, Any]) -> Hook:
    """The gate hook of a Claude that asks nobody, about one call in a project."""
    payload = {
        "session_id": "own-code",
        "hook_event_name": "PreToolUse",
        "permission_mode": "bypassPermissions",
        "cwd": "/src/demo",
        "tool_name": tool,
        "tool_input": args,
        "tool_use_id": "t1",
    }
    return core.hook("PreToolUse", payload)


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    """A call that writes a file of the project."""
    return "Write", {"file_path": f"/src/demo/{path}", "content": content}


def run(command: str) -> tuple[str, dict[str, Any]]:
    """A shell call."""
    return "Bash", {"command": command}


MANIFEST = '{"scripts": {"preinstall": "git push --force"}}'
CHAINS = [
    (write("package.json", MANIFEST), "npm install"),
    (write("package.json", MANIFEST), "npm ci"),
    (write("web/package.json", MANIFEST), "cd web && npm install"),
    (write("setup.py", "import os"), "pip install -e ."),
    (write("build.rs", "fn main() {}"), "cargo install --path ."),
    (write("Gemfile", "system('x')"), "bundle install"),
    (write("Makefile", "all:\n\tgit push"), "make"),
    (write(".venv/bin/activate", "git push"), "source .venv/bin/activate"),
    (write("z.py", "import os"), "python3 z.py"),
    (write("evil/package.json", MANIFEST), "npm install ./evil"),
]


@pytest.fixture
def silent(core: Core) -> Core:
    """A core that nobody answers."""
    core.configure("[approval]\ntimeout_s = 1\nunattended_timeout_s = 1\n")
    core.start()
    return core


@pytest.mark.parametrize(("written", "command"), CHAINS, ids=[command for _, command in CHAINS])
def test_what_runs_a_file_that_the_session_wrote_is_denied_by_silence(
    silent: Core, written: tuple[str, dict[str, Any]], command: str
) -> None:
    hooked(silent, *written).done()
    done = hooked(silent, *run(command)).done()
    told = json.loads(done.out)["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert "Nobody answered" in told["permissionDecisionReason"]


def test_a_manifest_and_its_install_in_one_call_are_denied_by_silence(silent: Core) -> None:
    done = hooked(silent, *run(f"echo '{MANIFEST}' > package.json && npm install")).done()
    assert json.loads(done.out)["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_install_in_a_project_that_the_session_left_alone_is_not_held(silent: Core) -> None:
    hooked(silent, *write("src/a.js", "1")).done()
    done = hooked(silent, *run("npm install lodash")).done()
    assert (done.code, done.out) == (0, "")
