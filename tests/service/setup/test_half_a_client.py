"""A hook command whose client is there in part."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.service.setup.forms.test_guarded_command import CLOSED, OPEN, line_for, reason, run
from watchgate.agents.base import HookEntry
from watchgate.link.paths import paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.forms.guarded_command import (
    HookClient,
)


def without_module(installed: HookClient) -> None:
    """Not even its bytecode is taken for the module."""
    paths(os.environ).client_module.unlink()
    assert list(hook_client.bytecode_directory(paths(os.environ)).iterdir())


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_a_gate_denies_when_only_the_launcher_is_left(
    installed: HookClient, entry: HookEntry, profile: str
) -> None:
    without_module(installed)

    done = run(line_for(entry, installed, profile))

    assert done.returncode == 2
    assert "the hook client failed with status 1" in done.stderr
    assert "watchgate doctor claude" in reason(done.stdout)


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_a_gate_denies_when_only_the_module_is_left(
    installed: HookClient, entry: HookEntry, profile: str
) -> None:
    installed.script.unlink()

    done = run(line_for(entry, installed, profile))

    assert done.returncode == 2
    assert "the hook client is missing" in done.stderr


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_a_gate_denies_when_the_bytecode_is_damaged(
    installed: HookClient, entry: HookEntry, profile: str
) -> None:
    [bytecode] = hook_client.bytecode_directory(paths(os.environ)).iterdir()
    os.truncate(bytecode, 100)

    done = run(line_for(entry, installed, profile))

    assert done.returncode == 2
    assert "watchgate doctor claude" in reason(done.stdout)


@pytest.mark.parametrize(("entry", "profile"), OPEN)
@pytest.mark.parametrize("lost", ["launcher", "module"])
def test_elsewhere_half_a_client_is_no_opinion(
    installed: HookClient, entry: HookEntry, profile: str, lost: str
) -> None:
    if lost == "module":
        without_module(installed)
    else:
        installed.script.unlink()

    done = run(line_for(entry, installed, profile))

    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_the_whole_client_answers_through_the_guard(
    installed: HookClient, entry: HookEntry, profile: str
) -> None:
    done = run(line_for(entry, installed, profile))

    assert done.returncode == 2
    assert "core is not running" in done.stderr
    assert json.loads(done.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"


@pytest.mark.parametrize(("entry", "profile"), CLOSED)
def test_neither_a_variable_nor_a_file_beside_it_answers_for_the_installed_client(
    installed: HookClient, tmp_path: Path, entry: HookEntry, profile: str
) -> None:
    for folder in (tmp_path, installed.script.parent):
        for name in ("_socket", "sitecustomize", "usercustomize"):
            (folder / f"{name}.py").write_text("raise SystemExit(0)\n")
    line = line_for(entry, installed, profile)
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(tmp_path)}
    env |= {"wg_p": "/bin/true", "wg_c": "0", "wg_w": ""}

    done = subprocess.run(["/bin/sh", "-c", line], env=env, input=b"{}", capture_output=True)

    assert done.returncode == 2
    assert b"core is not running" in done.stderr
