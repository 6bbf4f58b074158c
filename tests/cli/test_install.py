"""`watchgate install` and `uninstall` at the front door."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from watchgate.cli import install
from watchgate.cli.exits import Exit, Stop
from watchgate.link.paths import paths
from watchgate.service.setup import native_client


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    monkeypatch.chdir(path)
    return path


@pytest.fixture
def settings() -> Path:
    return Path(os.environ["CLAUDE_CONFIG_DIR"]) / "settings.json"


def run(*words: str) -> int:
    top = argparse.ArgumentParser()
    install.add_parser(top.add_subparsers())
    args = top.parse_args(words)
    return int(args.run(args))


def test_there_and_back(settings: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("install", "claude", "codex") == Exit.DONE
    told = capsys.readouterr().out
    assert f"claude: hooks installed in {settings}" in told
    assert "Hooks need review" in told
    assert settings.exists()

    assert run("uninstall", "claude", "codex") == Exit.DONE
    assert "is gone again" in capsys.readouterr().out
    assert not settings.exists()


def test_what_follows_without_a_core_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    run("install", "claude")

    assert "While no core runs, every call that acts is denied" in capsys.readouterr().out


def test_codex_trust_is_not_mentioned_for_others(capsys: pytest.CaptureFixture[str]) -> None:
    run("install", "claude")

    assert "Codex" not in capsys.readouterr().out


def test_twice_is_up_to_date(capsys: pytest.CaptureFixture[str]) -> None:
    run("install", "claude")
    capsys.readouterr()

    assert run("install", "claude") == Exit.DONE
    assert "up to date" in capsys.readouterr().out


def test_a_dry_run_prints_a_diff_and_writes_nothing(
    settings: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", "claude", "--dry-run") == Exit.DONE

    assert '+    "PreToolUse": [' in capsys.readouterr().out
    assert not settings.exists()
    assert not (tmp_path / "data").exists()


def test_a_dry_run_of_uninstall_leaves_the_hooks(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install", "claude")
    before = settings.read_bytes()

    assert run("uninstall", "claude", "--dry-run") == Exit.DONE
    assert '-    "PreToolUse": [' in capsys.readouterr().out
    assert settings.read_bytes() == before


@pytest.mark.parametrize("flags", [(), ("--dry-run",)])
def test_one_refusal_does_not_stop_the_others(
    settings: Path, flags: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir()
    settings.write_text("{,}")

    assert run("install", "claude", "codex", *flags) == Exit.REFUSED

    told, complaints = capsys.readouterr()
    assert "claude: refused." in complaints
    assert "line 1" in complaints
    assert "hooks.json" in told
    assert settings.read_text() == "{,}"


def test_the_project_scope_writes_claudes_local_file_alone(
    project: Path, settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", "claude", "codex", "--scope", "project") == Exit.REFUSED

    assert (project / ".claude" / "settings.local.json").exists()
    assert "--scope user" in capsys.readouterr().err
    assert not settings.exists()


def test_nothing_to_uninstall_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("uninstall", "claude") == Exit.DONE
    assert "no hooks of watchgate" in capsys.readouterr().out


def test_an_unknown_agent_is_a_usage_error() -> None:
    with pytest.raises(Stop) as stopped:
        run("install", "hal")

    assert stopped.value.code == Exit.USAGE
    assert "claude, cline, codex" in str(stopped.value)


def test_the_watch_profile_says_that_it_does_not_gate(
    capsys: pytest.CaptureFixture[str],
) -> None:
    config = Path(os.environ["WATCHGATE_CONFIG"])
    config.parent.mkdir(parents=True)
    config.write_text('profile = "watch"\n')

    run("install", "claude")

    told = capsys.readouterr().out
    assert "NOT GATED" in told
    assert "While no core runs" not in told


def test_synaps_takes_us_in_as_a_plugin(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "home" / ".synaps-cli" / "plugins" / "watchgate"
    planned = cli("install", "synaps", "--dry-run")
    assert f"+++ {folder / 'watchgate_synaps.py'}" in planned.out
    assert not folder.exists()
    done = cli("install", "synaps")
    assert done.code == Exit.DONE
    assert str(folder) in done.out
    assert "waits 5 s for a plugin" in done.out, "what that means for an operator"
    assert cli("doctor", "synaps", "--json").out.count('"synaps: hooks"') == 1
    refused = cli("install", "synaps", "--scope", "project")
    assert (refused.code, "--scope user" in refused.err) == (Exit.REFUSED, True)
    assert "is gone" in cli("uninstall", "synaps").out
    assert not folder.exists()


def test_an_agent_without_hooks_is_told_what_gates_it(cli: Cli) -> None:
    refused = cli("install", "acp")
    assert refused.code == Exit.REFUSED
    assert "`watchgate acp -- AGENT`" in refused.err


def test_a_native_client_that_does_not_run_here_is_told_and_python_taken(
    settings: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native_client, "packaged", lambda: b"of another machine")

    assert run("install", "claude") == Exit.DONE

    assert "hooks run the one in Python" in capsys.readouterr().err
    assert "hook-client" not in settings.read_text()
    assert not paths(os.environ).native_client.exists()
