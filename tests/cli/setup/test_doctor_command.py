"""`watchgate doctor` at the front door."""

from __future__ import annotations

import argparse
import json
import os
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.setup import doctor_command
from watchgate.link.paths import paths
from watchgate.service.system import off_switch


@pytest.fixture(autouse=True)
def no_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))


def run(*words: str) -> int:
    top = argparse.ArgumentParser()
    doctor_command.add_parser(top.add_subparsers())
    args = top.parse_args(["doctor", *words])
    return int(args.run(args))


def test_a_machine_without_agents_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == Exit.DONE

    told = capsys.readouterr().out
    assert "claude: hooks" not in told
    assert "warn  core: no core runs" in told
    assert "      mend: start one with" in told


def test_every_line_of_json_has_the_same_fields(capsys: pytest.CaptureFixture[str]) -> None:
    run("--json")

    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert {tuple(line) for line in lines} == {("check", "status", "text", "mend")}
    assert {line["status"] for line in lines} <= {"ok", "warn", "fail"}


def test_it_ends_with_one_line_that_sums_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run() == Exit.DONE
    well = capsys.readouterr().out.splitlines()[-1]
    (tmp_path / "home" / ".claude").mkdir()
    assert run("claude") == Exit.REFUSED
    wrong = capsys.readouterr().out.splitlines()[-1]

    assert re.fullmatch(r"\d+ checks: \d+ ok, 1 to look at; exit 0", well)
    assert re.fullmatch(
        r"\d+ checks: \d+ ok, 1 to look at, 1 to mend: claude: hooks; exit 1", wrong
    )


def test_what_is_well_is_one_line_for_this_machine_and_for_each_agent(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("install", "claude", "gemini", "qwen")
    run("claude", "gemini", "qwen")
    short = capsys.readouterr().out.splitlines()
    run("claude", "gemini", "qwen", "--verbose")
    long = capsys.readouterr().out.splitlines()

    assert [line.split(":")[0] for line in short if line.startswith("ok ")] == [
        f"ok    {group}" for group in ("this machine", "claude", "gemini", "qwen")
    ]
    denied = [line for line in short if "gate answers: it denies, as no core runs" in line]
    assert [line.partition(": ")[0] for line in denied] == ["warn  claude, gemini, qwen"]
    assert sum(line.startswith("ok ") for line in long) > 20
    assert long[-1] == short[-1]


def test_a_fault_in_the_configuration_does_not_end_the_round(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("install", "claude")
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text('profil = "strict"')

    assert run("claude") == Exit.REFUSED
    told = capsys.readouterr().out
    assert f"fail  configuration: {config}:1: unknown key profil; did you mean profile?" in told
    assert "ok    claude: " in told
    assert "to mend: configuration, core; exit 1" in told


def test_a_fault_in_an_agent_of_ones_own_does_not_end_it_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = Path(os.environ["WATCHGATE_CONFIG"]).with_name("agents.d")
    folder.mkdir(parents=True, mode=0o700)
    (folder / "nova.toml").write_text("speed = 9")

    assert run() == Exit.REFUSED
    told = capsys.readouterr().out
    assert "fail  agents of your own: " in told
    assert "ok    this machine: " in told


def test_with_hooks_in_and_no_core_it_fails_as_every_acting_call_is_denied(
    cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    cli("install", "claude")

    assert run() == Exit.REFUSED
    told = capsys.readouterr().out
    where = paths(os.environ).control_socket
    assert f"fail  core: no core runs at {where}, where hooks ask: gates deny every acting" in told
    assert "mend: start one with `watchgate`" in told


def test_while_the_gate_is_off_no_call_is_denied_and_no_core_is_no_fault(cli: Cli) -> None:
    cli("install", "claude")
    off_switch.write_switch(paths(os.environ).off, None)

    assert run() == Exit.DONE


def test_a_fault_is_an_exit_code(tmp_path: Path) -> None:
    (tmp_path / "home" / ".claude").mkdir()

    assert run("claude") == Exit.REFUSED


def test_fix_makes_the_runtime_directory_private(
    runtime_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runtime_dir.chmod(0o755)

    assert run() == Exit.REFUSED
    assert run("--fix") == Exit.DONE
    assert runtime_dir.stat().st_mode & 0o777 == 0o700


def test_an_unknown_agent_is_a_usage_error() -> None:
    with pytest.raises(Stop) as stopped:
        run("hal")

    assert stopped.value.code == Exit.USAGE
