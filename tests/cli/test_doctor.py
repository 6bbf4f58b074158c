"""`watchgate doctor` at the front door."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

from watchgate.cli import doctor
from watchgate.cli.exits import Exit, Stop


@pytest.fixture(autouse=True)
def no_agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))


def run(*words: str) -> int:
    top = argparse.ArgumentParser()
    doctor.add_parser(top.add_subparsers())
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
