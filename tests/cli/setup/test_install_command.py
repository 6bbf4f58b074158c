"""`watchgate install` and `uninstall_command` at the front door."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

import pytest

from tests.agents.payloads import INSTALLABLE
from tests.cli.conftest import Cli, Core
from tests.terminal import Terminal
from watchgate.cli.base.printing import Exit, Stop
from watchgate.cli.setup import install_command, uninstall_command
from watchgate.link.paths import paths
from watchgate.service.setup import hook_client
from watchgate.service.setup.forms.guarded_command import parse_command
from watchgate.service.system.config_file import read_config


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
    commands = top.add_subparsers()
    install_command.add_parser(commands)
    uninstall_command.add_parser(commands)
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


def test_twice_is_up_to_date_and_nothing_is_said_again(
    capsys: pytest.CaptureFixture[str], settings: Path
) -> None:
    run("install", "claude")
    capsys.readouterr()

    assert run("install", "claude") == Exit.DONE
    assert capsys.readouterr().out == f"claude: hooks are up to date in {settings}\n"


def test_four_lines_say_what_was_done_and_how_to_undo_it(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings.parent.mkdir()
    settings.write_text("{}\n")
    run("install", "claude")
    lines = capsys.readouterr().out.splitlines()
    # Whatever is called claude on this machine has one more line.
    done, undo, profile, doctor = [each for each in lines if "Open sessions of" not in each]
    assert done.startswith(f"claude: hooks installed in {settings}: 25 events, and the status line")
    backup, command = undo.strip().split("; ")
    assert Path(backup.removeprefix("backup: ")).read_text() == "{}\n"
    assert command == "undo: `watchgate uninstall claude`"
    assert profile.startswith("Profile guard.")
    assert "watchgate doctor" in doctor


@pytest.mark.parametrize("name", INSTALLABLE)
def test_no_agent_takes_more_than_twelve_lines(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", name) == Exit.DONE
    assert len(capsys.readouterr().out.splitlines()) <= 12


@pytest.mark.parametrize(("flag", "set_"), [(None, True), ("", True), ("no-", False)])
def test_without_a_terminal_the_status_line_is_set_unless_a_flag_says_no(
    settings: Path, capsys: pytest.CaptureFixture[str], flag: str | None, set_: bool
) -> None:
    run("install", "claude", *([] if flag is None else [f"--{flag}status-line"]))
    assert ("statusLine" in json.loads(settings.read_text())) is set_
    assert ("status line" in capsys.readouterr().out) is set_


def test_what_the_agent_does_not_trust_yet_is_said_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run("install", "codex")
    capsys.readouterr()
    run("install", "codex")
    again = capsys.readouterr().out
    assert again.startswith("codex: hooks are up to date")
    assert "trust" in again


def test_a_flag_takes_our_status_line_out_and_a_new_installation_leaves_it_out(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("install", "claude")
    run("install", "claude", "--no-status-line")
    assert "the status line is taken out" in capsys.readouterr().out
    assert "statusLine" not in json.loads(settings.read_text())
    assert run("uninstall", "claude") == Exit.DONE
    assert not settings.exists()


def test_the_doctor_misses_no_status_line_that_nobody_wanted(cli: Cli) -> None:
    cli("install", "claude", "--no-status-line")
    checks = {each["check"]: each for each in cli("doctor", "claude", "--json").lines}
    assert checks["claude: hooks"]["status"] == "ok"


@pytest.mark.parametrize("flags", [(), ("--status-line",), ("--no-status-line",)])
def test_a_status_line_of_the_user_is_never_replaced(
    settings: Path, capsys: pytest.CaptureFixture[str], flags: tuple[str, ...]
) -> None:
    settings.parent.mkdir()
    settings.write_text('{"statusLine": {"type": "command", "command": "mine"}}')
    run("install", "claude", *flags)
    assert json.loads(settings.read_text())["statusLine"]["command"] == "mine"
    assert "your own status line stays" in capsys.readouterr().out


@pytest.mark.parametrize(("answer", "set_"), [("\n", True), ("n\n", False)])
def test_on_a_terminal_the_status_line_is_asked_about(
    settings: Path, answer: str, set_: bool
) -> None:
    with Terminal("install", "claude", "--watch") as terminal:
        terminal.wait_for("for cost and context? [Y/n]")
        terminal.type(answer)
        assert terminal.code() == Exit.DONE
    assert ("statusLine" in json.loads(settings.read_text())) is set_


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
    assert "codex" in told
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


def test_a_soft_start_needs_no_file_written_by_hand(
    settings: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("install", "claude", "--watch") == Exit.DONE
    assert "NOT GATED" in capsys.readouterr().out
    assert read_config(paths(os.environ)).profile == "watch"
    commands = [
        hook["command"]
        for group in json.loads(settings.read_text())["hooks"]["PreToolUse"]
        for hook in group["hooks"]
    ]
    assert {found.lane for each in commands if (found := parse_command(each))} == {"observe"}
    run("install", "codex", "--watch")
    assert "NOT GATED" in capsys.readouterr().out


def test_a_soft_start_of_one_agent_does_not_end_the_gate_of_another(settings: Path) -> None:
    run("install", "claude")
    before = settings.read_bytes()
    with pytest.raises(Stop, match="claude is gated") as stopped:
        run("install", "codex", "--watch")
    assert stopped.value.code == Exit.REFUSED
    assert settings.read_bytes() == before
    assert read_config(paths(os.environ)).profile == "guard"


@pytest.mark.parametrize("written", ["", 'profile = "watch"\n'])
@pytest.mark.parametrize("flags", [("--watch",), ("--watch", "--dry-run"), ("codex", "--watch")])
def test_a_soft_start_never_ends_the_gate_of_the_agent_itself(
    cli: Cli, core: Core, settings: Path, written: str, flags: tuple[str, ...]
) -> None:
    cli("install", "claude")
    before = settings.read_bytes()
    core.paths.config.parent.mkdir(parents=True)
    core.paths.config.write_text(written)

    said = cli("install", "claude", *flags)

    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "claude is gated, which --watch would end: `watchgate guard off`" in said.err
    assert "Nothing was changed" in said.err
    assert (settings.read_bytes(), core.paths.config.read_text()) == (before, written)
    assert not Path(os.environ["CODEX_HOME"]).exists()
    assert cli("status").out.startswith("gating (guard), 0 sessions")


def test_a_file_that_says_watch_ends_no_gate_by_an_installation(cli: Cli, settings: Path) -> None:
    cli("install", "claude")
    before, config = settings.read_bytes(), paths(os.environ).config
    config.parent.mkdir(parents=True)
    config.write_text('profile = "watch"\n')

    said = cli("install", "claude")

    assert (said.code, settings.read_bytes()) == (Exit.REFUSED, before)
    assert "which profile watch of config.toml would end" in said.err
    assert cli("install", "codex").code == Exit.DONE, "which has no gate that could end"


def test_hooks_that_lost_the_entry_that_could_gate_are_no_gate(cli: Cli, settings: Path) -> None:
    cli("install", "claude", "--watch")
    value = json.loads(settings.read_text())
    value["hooks"].pop("PreToolUse")
    settings.write_text(json.dumps(value))

    assert cli("install", "claude").code == Exit.DONE
    assert "PreToolUse" in json.loads(settings.read_text())["hooks"]


def test_hooks_of_another_version_may_gate(cli: Cli, settings: Path) -> None:
    cli("install", "claude")
    before = settings.read_text().replace(" gate PreToolUse ", " ")
    settings.write_text(before)

    assert cli("install", "claude", "--watch").code == Exit.REFUSED
    assert settings.read_text() == before


def test_a_soft_start_that_is_refused_leaves_the_profile(cli: Cli, settings: Path) -> None:
    settings.parent.mkdir()
    settings.write_text("{,}")

    assert cli("install", "claude", "--watch").code == Exit.REFUSED

    assert not paths(os.environ).config.exists()
    assert cli("install", "claude", "codex", "--watch").code == Exit.REFUSED
    assert read_config(paths(os.environ)).profile == "watch", "hooks of codex do"


def test_a_soft_start_that_cannot_write_the_profile_installs_nothing(
    cli: Cli, settings: Path
) -> None:
    config = paths(os.environ).config
    config.parent.mkdir(parents=True)
    config.write_text("[approval]\n")
    config.chmod(0o666)

    said = cli("install", "claude", "--watch")

    assert (said.code, "chmod go-w" in said.err) == (Exit.REFUSED, True)
    assert not settings.exists()


def test_hooks_that_only_watch_beside_a_core_that_gates_are_never_said_to_gate(
    cli: Cli, core: Core
) -> None:
    assert "no call of claude is held" in cli("install", "claude", "--watch").out
    status = cli("status").out
    assert status.startswith(
        "NOT GATING (guard), hooks only watch for claude; mend: watchgate guard on, 0 sessions"
    )
    assert cli("status", "--json").lines[0]["ungated"] == {"claude": "hooks only watch"}
    assert "NOT GATING" in cli("status", "--tmux").out
    assert "user, only watch" in cli("agent", "ls").out
    doctor = cli("doctor", "claude")
    assert doctor.code == Exit.REFUSED
    assert "fail  claude: gate: hooks only watch, while profile guard is in force" in doctor.out
    assert "mend: watchgate guard on" in doctor.out
    assert cli("guard", "on").code == Exit.DONE
    assert cli("status").out.startswith("gating (guard), 0 sessions")
    assert cli("doctor", "claude").code == Exit.DONE


def test_a_soft_start_says_that_a_running_core_keeps_its_profile(cli: Cli, core: Core) -> None:
    said = cli("install", "claude", "--watch")
    assert (said.code, core.paths) == (Exit.DONE, paths(os.environ))
    assert "The running core keeps profile guard" in said.out
    assert len(said.out.splitlines()) <= 12


def test_a_dry_run_of_a_soft_start_writes_nothing(settings: Path) -> None:
    assert run("install", "claude", "--watch", "--dry-run") == Exit.DONE
    assert not settings.exists()
    assert not paths(os.environ).config.exists()


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
    monkeypatch.setattr(hook_client, "packaged_native", lambda: b"of another machine")

    assert run("install", "claude") == Exit.DONE

    assert "hooks run the one in Python" in capsys.readouterr().err
    assert "hook-client" not in settings.read_text()
    assert not paths(os.environ).native_client.exists()
