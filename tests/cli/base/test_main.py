from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from watchgate import __version__
from watchgate.cli import GROUPS, _needed, main, parser
from watchgate.cli.base.printing import Exit


def commands() -> dict[str, argparse.ArgumentParser]:
    """Every command and command of a command, by its words."""
    found: dict[str, argparse.ArgumentParser] = {}
    todo = [("", parser())]
    while todo:
        name, each = todo.pop()
        for action in each._actions:
            if isinstance(action, argparse._SubParsersAction):
                for word, below in action.choices.items():
                    found[f"{name} {word}".strip()] = below
                    todo.append((f"{name} {word}".strip(), below))
    return found


def test_the_commands_of_the_contract_are_there() -> None:
    wanted = "attach demo serve status stop off on hook install uninstall doctor ls show allow deny"
    wanted += " handback tail schema config audit"
    assert set(wanted.split()) <= set(commands())
    assert "audit verify" in commands()


@pytest.mark.parametrize("name", sorted(commands()))
def test_every_command_has_help_with_an_example(cli: Cli, name: str) -> None:
    said = cli(*name.split(), "--help")
    assert said.code == Exit.DONE
    assert f"example: watchgate {name.split(maxsplit=1)[0]}" in " ".join(said.out.split())


def test_the_top_says_how_to_begin(cli: Cli) -> None:
    said = cli("--help")
    assert said.code == Exit.DONE
    assert "watchgate demo" in said.out
    assert "3 no core reachable" in said.out


def test_the_version(cli: Cli) -> None:
    assert cli("--version").out == f"watchgate {__version__}\n"


@pytest.mark.parametrize("args", [("dance",), ("ls", "--colour"), ("show",)])
def test_usage_errors_exit_2_on_stderr(cli: Cli, args: tuple[str, ...]) -> None:
    said = cli(*args)
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "usage:" in said.err


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_args: argparse.Namespace) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("watchgate.cli.decide.requests_command._ls", interrupted)
    assert main(["ls"]) == Exit.REFUSED


def printed_to(stdout: int) -> tuple[int, str]:
    """Exit code and stderr of a command that prints more than a line to this descriptor."""
    argv = [sys.executable, "-m", "watchgate", "completion", "bash"]
    done = subprocess.run(argv, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60)
    return done.returncode, done.stderr


def test_with_stderr_closed_no_diagnostic_goes_to_stdout() -> None:
    argv = ["/bin/sh", "-c", '"$@" 2>&-', "sh", sys.executable, "-m", "watchgate", "ls", "--json"]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (Exit.NO_CORE, "")


@pytest.mark.parametrize("words", [["costs"], ["prices", "--json"]])
def test_with_stdout_closed_a_command_prints_to_nobody(words: list[str]) -> None:
    argv = ["/bin/sh", "-c", '"$@" >&-', "sh", sys.executable, "-m", "watchgate", *words]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert (done.returncode, "Traceback" in done.stderr) == (Exit.DONE, False)


def test_a_reader_that_left_is_no_fault() -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        assert printed_to(write) == (Exit.DONE, "")
    finally:
        os.close(write)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_what_could_not_be_printed_is_said_in_a_line() -> None:
    with Path("/dev/full").open("wb") as full:
        code, said = printed_to(full.fileno())
    assert code == Exit.REFUSED
    assert said.startswith("watchgate: what was to be printed is not all there: No space left")
    assert said.count("\n") == 1


def test_the_console_needs_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    said = cli("demo")
    assert said.code == Exit.USAGE
    assert "watchgate tail" in said.err


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (("sattus",), ["did you mean status?", "`watchgate --help`"]),
        (("serve", "--profile", "gard"), ["did you mean guard?", "`watchgate serve --help`"]),
        (("audit", "verfy"), ["did you mean verify?", "`watchgate audit --help`"]),
        (("ls", "--jsn"), ["unrecognized arguments: --jsn", "--help`"]),
        (("show",), ["required: ID", "`watchgate show --help`"]),
    ],
)
def test_a_wrong_command_line_says_what_was_meant_or_where_an_example_is(
    cli: Cli, args: tuple[str, ...], says: list[str]
) -> None:
    said = cli(*args)
    assert (said.code, said.out) == (Exit.USAGE, "")
    for part in says:
        assert part in said.err


@pytest.mark.parametrize(
    ("name", "silence"),
    [
        ("acp", "no core runs, the editor gets the request as it came and asks by itself"),
        ("stream-json", "no core runs, the program that drives it gets the request as it came"),
        ("permission-prompt", "nobody answers in time or no core runs, the call is denied"),
    ],
)
def test_what_stands_between_says_what_silence_and_no_core_mean(
    cli: Cli, name: str, silence: str
) -> None:
    assert silence in " ".join(cli(name, "--help").out.split())


@pytest.mark.parametrize("group", GROUPS)
def test_the_table_of_the_commands_says_what_each_module_adds(group: str) -> None:
    (added,) = (
        action
        for action in parser([group])._actions
        if isinstance(action, argparse._SubParsersAction)
    )
    assert tuple(added.choices) == GROUPS[group]


def test_a_command_is_read_alike_alone_and_among_all() -> None:
    alone, among = parser(["machine.switch"]), parser()
    for words in (["status", "--tmux"], ["--host", "off", "2h"]):
        assert vars(alone.parse_args(words)) == vars(among.parse_args(words))
    assert alone.parse_args([]).run is among.parse_args([]).run


@pytest.mark.parametrize("words", [[], ["--host"]])
def test_the_console_brings_no_other_command(words: list[str]) -> None:
    assert list(_needed(words)) == ["console.console_command"]


def test_a_word_that_is_no_command_is_held_against_all_of_them() -> None:
    assert list(_needed(["--help"])) == list(_needed(["--host", "dance"])) == list(GROUPS)


def test_a_command_brings_its_own_module_alone() -> None:
    """tmux runs `status --tmux` every few seconds: all modules took longer than what it does."""
    script = (
        "import sys; from watchgate.cli import main; main(['status', '--tmux']);"
        "print(*sorted(name for name in sys.modules if name.startswith('watchgate.')))"
    )
    run = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True
    )
    brought = set(run.stdout.splitlines()[-1].split())
    assert "watchgate.cli.machine.switch" in brought
    others = {f"watchgate.cli.{group}" for group in GROUPS if group != "machine.switch"}
    assert not brought & {
        *others,
        "watchgate.core.gate.operator_decisions",
        "watchgate.core.secrets.redact",
    }
