"""The wheel of this platform: its hooks run the native client; the plain wheel knows none."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.tags import sys_tags
from packaging.utils import parse_wheel_filename

from hatch_build import this_platform
from watchgate.link.paths import paths
from watchgate.service.setup.forms.guarded_command import parse_command

ROOT = Path(__file__).resolve().parents[2]
CLIENT = "watchgate/hook-client"


def build(into: Path, env: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", into],
        cwd=ROOT,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=300,
    )


def wheel(into: Path, env: Mapping[str, str]) -> Path:
    done = build(into, env)
    assert done.returncode == 0, done.stderr
    [found] = into.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def native_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which(os.environ.get("CC", "cc").split()[0]) is None:
        pytest.skip("no C compiler here")
    return wheel(tmp_path_factory.mktemp("native"), {"WATCHGATE_NATIVE": "1"})


@pytest.fixture(scope="module")
def command(native_wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment with that wheel; what it needs comes from this environment."""
    env = tmp_path_factory.mktemp("installed") / "env"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", env], check=True)
    python = env / "bin" / "python"
    pip: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
    ]
    subprocess.run([*pip, "--disable-pip-version-check", native_wheel], check=True)
    ours = next(env.glob("lib/python*/site-packages"))
    (ours / "needed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return env / "bin" / "watchgate"


def run(*words: str | Path) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@contextmanager
def serving(command: Path) -> Iterator[None]:
    with subprocess.Popen([command, "serve"], stdout=subprocess.PIPE) as core:
        try:
            assert core.stdout is not None
            assert json.loads(core.stdout.readline())["ready"] is True
            yield
        finally:
            core.terminate()


def gate_of(settings: Path) -> str:
    entries = json.loads(settings.read_text())["hooks"]["PreToolUse"]
    commands: list[str] = [hook["command"] for entry in entries for hook in entry["hooks"]]
    found = {each: parts for each in commands if (parts := parse_command(each)) is not None}
    assert {(each.python, each.script) for each in found.values()} == {
        (None, paths(os.environ).native_client)
    }
    return next(each for each, parts in found.items() if parts.lane == "gate")


def asking(gate: str, command: str) -> subprocess.Popen[str]:
    """The hook of an agent that wants to run this command."""
    call = {
        "session_id": "s1",
        "cwd": str(Path.cwd()),
        "hook_event_name": "PreToolUse",
        "tool_name": "Bash",
        "tool_use_id": command,
        "tool_input": {"command": command},
    }
    pipe = subprocess.PIPE
    hook = subprocess.Popen(["/bin/sh", "-c", gate], stdin=pipe, stdout=pipe, text=True)
    assert hook.stdin is not None
    hook.stdin.write(json.dumps(call))
    hook.stdin.close()
    hook.stdin = None
    return hook


def decision(hook: subprocess.Popen[str]) -> dict[str, str]:
    out, _ = hook.communicate(timeout=60)
    told: dict[str, str] = json.loads(out)["hookSpecificOutput"]
    return told


def held(command: Path, hook: subprocess.Popen[str]) -> str:
    """The id of the request that waits for a person."""
    while hook.poll() is None:
        if told := run(command, "ls", "--json").splitlines():
            return str(json.loads(told[0])["id"])
    raise AssertionError(f"it was not held: {hook.communicate()}")


def test_the_wheel_is_for_this_platform_and_any_python(native_wheel: Path) -> None:
    [tag] = parse_wheel_filename(native_wheel.name)[3]
    assert (tag.interpreter, tag.abi) == ("py3", "none")
    assert tag in sys_tags()
    assert not re.match("any|manylinux|musllinux", tag.platform)
    assert CLIENT in ZipFile(native_wheel).namelist()


def test_a_python_for_both_processors_of_macos_does_not_make_the_wheel_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sysconfig, "get_platform", lambda: "macosx-10.13-universal2")
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "mac_ver", lambda: ("14.5", ("", "", ""), "arm64"))
    assert this_platform() == "macosx_14_0_arm64"


def test_the_plain_wheel_is_for_every_platform_and_has_none(tmp_path: Path) -> None:
    plain = wheel(tmp_path, {"CC": "/nowhere/cc"})

    assert plain.name.endswith("-py3-none-any.whl")
    assert CLIENT not in ZipFile(plain).namelist()


def test_without_a_compiler_the_build_says_what_it_needs(tmp_path: Path) -> None:
    done = build(tmp_path, {"WATCHGATE_NATIVE": "1", "CC": "/nowhere/cc"})

    assert done.returncode != 0
    assert "needs a C compiler" in done.stderr
    assert "WATCHGATE_NATIVE" in done.stderr
    assert not list(tmp_path.glob("*.whl"))


def test_its_hooks_are_gated_from_end_to_end(command: Path) -> None:
    settings = Path(os.environ["CLAUDE_CONFIG_DIR"], "settings.json")
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{ "theirs": 1 }\n')
    run(command, "install", "claude")
    gate = gate_of(settings)

    alone = decision(asking(gate, "git push --force"))
    with serving(command):
        hook = asking(gate, "git push --force")
        run(command, "deny", held(command, hook), "--reason", "not on Friday")
        denied = decision(hook)
        said = run(command, "doctor", "claude", "--json").splitlines()
        left = asking(gate, "git push --force origin other")
        held(command, left)
    left_alone = decision(left)

    assert "core is not running" in alone["permissionDecisionReason"]
    assert "not on Friday" in denied["permissionDecisionReason"]
    closed = {each["permissionDecision"] for each in (alone, denied, left_alone)}
    assert closed == {"deny"}
    checks = {each["check"]: each["status"] for each in map(json.loads, said)}
    assert checks["claude: native client"] == checks["claude: gate answers"] == "ok"
    assert "fail" not in checks.values()
    run(command, "uninstall", "claude")
    assert settings.read_text() == '{ "theirs": 1 }\n'
