"""`watchgate crashtest`, with a program of ours in the place of an agent."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.setup.crashtest_command.conftest import Standin
from tests.e2e.programs import until
from watchgate.cli.base.printing import Exit
from watchgate.cli.setup import crashtest_command
from watchgate.service.crashtest.agent_drivers import DRIVERS

WAIT_S = 60.0


@pytest.fixture(autouse=True)
def clean(scratch: Path, tmp_path: Path) -> Iterator[None]:
    """Whatever a test does, nothing is left of it, and the user's home is as it was."""
    yield
    assert list(scratch.iterdir()) == []
    assert list((tmp_path / "home").iterdir()) == []


def test_the_command_knows_the_agents_that_can_be_driven() -> None:
    assert tuple(DRIVERS) == crashtest_command.AGENTS


def test_an_agent_that_fails_open_is_told_with_the_consequence(cli: Cli, standin: Standin) -> None:
    """The answer is no matter of the exit code: the run was made."""
    program = str(standin("open"))
    said = cli("crashtest", "claude", "--program", program, "--only", "hangs", "--timeout-s", "1")

    assert said.code == Exit.DONE
    rows = {line[2:52].strip(): line[52:] for line in said.out.splitlines()[1:5]}
    assert said.out.startswith("claude 9.8.7 (")
    assert rows == {
        "no hook at all": "ran, as it must",
        "deny JSON, exit 0": "blocked, as it must be",
        "hangs past its timeout": "RAN: fails open",
        "Watchgate's own hook, with no core running": "blocked",
    }
    assert said.out.splitlines()[0].endswith(", 4 runs")
    assert "claude 9.8.7 fails open with 1 of 1 hooks.\n" in said.out
    assert "the deadline in the hook must be shorter than the agent's" in said.out
    assert "own deadline is shorter" in said.out


@pytest.mark.parametrize(("temper", "outcome"), [("open", "ran"), ("closed", "blocked")])
def test_one_line_of_json_for_every_run(
    cli: Cli, standin: Standin, temper: str, outcome: str
) -> None:
    program = str(standin(temper))
    said = cli("crashtest", "claude", "--program", program, "--only", "exit 1", "--json")

    fields = ("agent", "version", "hook", "about", "outcome", "why", "told")
    assert {tuple(line) for line in said.lines} == {fields}
    outcomes = {line["hook"]: line["outcome"] for line in said.lines}
    assert outcomes == {
        "none": "ran",
        "deny-0": "blocked",
        "exit-1": outcome,
        "deny-1": outcome,
        "watchgate": "blocked",
    }
    assert "core is not running" in said.lines[-1]["told"]


@pytest.mark.parametrize(
    ("temper", "runs", "why"),
    [
        (
            "idle",
            1,
            "never asked the model for work; it ended with status 1: no <U+001B>",
        ),
        ("unwilling", 1, "without any hook its call did not run; it was told: never"),
        ("deaf", 2, "the agent did not run the hook"),
        ("mute", 2, "the call did not run, but the agent ended with status 0 without a word"),
    ],
)
def test_nothing_is_claimed_of_an_agent_that_cannot_be_driven(
    cli: Cli, standin: Standin, temper: str, runs: int, why: str
) -> None:
    said = cli("crashtest", "claude", "--program", str(standin(temper)), "--json")

    assert said.code == Exit.REFUSED
    assert len(said.lines) == runs
    assert "claude 9.8.7 could not be driven here, so nothing is claimed of it: " in said.err
    assert why in said.err


def test_an_agent_that_is_not_here_is_named(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    said = cli("crashtest", "codex")

    assert said.code == Exit.REFUSED
    assert "codex is not on PATH: install it, or name it with --program PATH" in said.err


def test_a_program_that_tells_no_version_is_no_agent(cli: Cli, tmp_path: Path) -> None:
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho hello\n")
    refused = cli("crashtest", "claude", "--program", str(program))
    program.chmod(0o755)
    said = cli("crashtest", "claude", "--program", str(program))

    assert (refused.code, said.code) == (Exit.REFUSED, Exit.REFUSED)
    assert "is no program" in refused.err
    assert "told no version" in said.err


@pytest.mark.parametrize(
    ("words", "mend"),
    [
        (["cladue"], "did you mean claude?"),
        (["claude", "--timeout-s", "2.5"], "whole seconds from 1 to 60"),
        (["claude", "codex", "--program", "/bin/true"], "name one AGENT with it"),
        (["claude", "--only", "nonsense"], "no hook of claude contains 'nonsense'"),
    ],
)
def test_a_wrong_command_line_says_what_is_meant(cli: Cli, words: list[str], mend: str) -> None:
    said = cli("crashtest", *words)

    assert said.code == Exit.USAGE
    assert mend in said.err


def test_what_follows_is_broken_between_words() -> None:
    told = "- hangs past its timeout: a hook that hangs lets the call run."

    assert list(crashtest_command.fitted([told, "end"], 40)) == [
        "- hangs past its timeout: a hook that",
        "  hangs lets the call run.",
        "end",
    ]
    assert list(crashtest_command.fitted([told], 0)) == [told]


HEARING = """\
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
"""
"""What a shell starts in the background ignores SIGINT, and so does all that these tests start."""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_run_leaves_nothing_behind(
    standin: Standin, scratch: Path, number: signal.Signals
) -> None:
    """Neither the folder nor the agent nor the hook that hangs below it."""
    command = ["-m", "watchgate", "crashtest", "claude", "--only", "hangs", "--timeout-s", "60"]
    running = subprocess.Popen(
        [sys.executable, "-c", HEARING, *command, "--program", standin("open")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    place = until(lambda: _hanging(scratch), "the hook that hangs")
    running.send_signal(number)

    told, _ = running.communicate(timeout=WAIT_S)
    assert running.returncode == Exit.REFUSED
    assert told.splitlines()[-1] == "watchgate: interrupted; the throw-away folder is removed"
    assert not place.exists()


def _hanging(scratch: Path) -> Path | None:
    """The folder of the run whose hook hangs now."""
    scripts = scratch.glob("wg-crash-*/hook")
    return next((each.parent for each in scripts if "while" in each.read_text()), None)
