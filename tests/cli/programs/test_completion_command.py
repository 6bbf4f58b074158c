"""The Tab key in a real shell: what it proposes is what is so now."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli, Core
from watchgate.cli.base.printing import Exit

_BASH = """
source /dev/stdin <<< "$CODE"
COMP_LINE="$1"; COMP_POINT=${#1}; COMP_TYPE=9; COMP_WORDBREAKS=$' \\t\\n"\\'><=;|&(:'
read -ra COMP_WORDS <<< "$1"
_python_argcomplete watchgate
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def tab(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], set[str]]:
    """What bash proposes for a line whose cursor stands at its end."""
    code = cli("completion", "bash").out
    program = shutil.which("watchgate", path=str(Path(sys.executable).parent))
    if program is None or shutil.which("bash") is None:
        pytest.skip("bash and an installed watchgate are needed")
    monkeypatch.setenv("CODE", code)
    monkeypatch.setenv("PATH", f"{Path(program).parent}:/usr/bin:/bin")

    def press(line: str) -> set[str]:
        said = subprocess.run(
            ["bash", "-c", _BASH, "tab", line], capture_output=True, text=True, timeout=60
        )
        assert said.stderr == ""
        return {word.strip() for word in said.stdout.splitlines() if word.strip()}

    return press


def test_commands_options_and_their_words_are_completed(tab: Callable[[str], set[str]]) -> None:
    assert {"handback"} == tab("watchgate handb")
    assert {"--profile"} == tab("watchgate serve --pro")
    assert {"strict"} == tab("watchgate serve --profile st")


def test_ids_of_requests_that_wait_are_proposed(
    tab: Callable[[str], set[str]], held: Callable[..., dict[str, Any]]
) -> None:
    request = held("git push --force")["id"]
    assert tab("watchgate deny ") >= {request[:8]}
    assert tab("watchgate show zzzz") == set()


def test_sessions_are_proposed_wherever_one_is_named(
    tab: Callable[[str], set[str]], held: Callable[..., dict[str, Any]], cli: Cli
) -> None:
    held("git push --force")
    (session,) = [each["session"] for each in cli("ls", "--sessions", "--json").lines]
    for line in ("export --session ", "purge --session ", f"replay {session[:1]}"):
        assert session in tab(f"watchgate {line}")


def test_filters_are_completed_word_by_word(tab: Callable[[str], set[str]], core: Core) -> None:
    assert any("denied" in word for word in tab("watchgate search state:den"))


def test_without_a_core_nothing_is_proposed_and_nothing_is_said(
    tab: Callable[[str], set[str]],
) -> None:
    assert tab("watchgate deny ") == set()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_what_it_can_load(cli: Cli, shell: str) -> None:
    said = cli("completion", shell)
    assert said.code == Exit.DONE
    assert "watchgate" in said.out
    assert "wgate" in said.out
    program = shutil.which(shell)
    if program is not None:
        checked = subprocess.run([program, "-n"], input=said.out, capture_output=True, text=True)
        assert (checked.returncode, checked.stderr) == (0, "")
