"""Arithmetic runs the substitutions in what a variable holds, so it must not hold others' text."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.core.policy.calls import judge_command
from watchgate.core.policy.judging.command_finder import commands

EVALUATES_DATA = [
    "while read f; do echo $((f)); done < f",
    "while echo $((f)); read -r f; do :; done < f",
    "read -r f < f; echo ${a[f]}",
    "a=x; read -r f < f; echo ${a:f}",
    "read -r f < f; echo $[f + 1]",
    "read -r < f; echo $((REPLY))",
    "builtin read -r f < f; echo $((f))",
    "n=$(cat f); echo $((n + 1))",
    'n=$(cat f); m="$n"; echo $((m))',
    "echo $(( $(cat f) + 1 ))",
    "for f in $(cat f); do echo $((f)); done",
    "for f in *; do echo $((f)); done",
]


@pytest.mark.parametrize("command", EVALUATES_DATA)
def test_what_evaluates_the_text_of_others_is_opaque(command: str) -> None:
    assert commands(command).opaque
    assert judge_command(command).decision != "allow"


@pytest.mark.parametrize("command", EVALUATES_DATA[:1] + EVALUATES_DATA[2:10])
def test_the_shell_does_run_what_such_a_text_holds(command: str, tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a[$(touch ran)]\n")
    subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, check=False)
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("command", ["read -r f < f; echo $a[f]", "f='x[$(id)]'; echo $a[f]"])
def test_a_subscript_of_zsh_is_arithmetic_too(command: str) -> None:
    assert commands(command).opaque


@pytest.mark.parametrize(
    "command",
    [
        "i=0; for f in *.py; do i=$((i + 1)); done; echo $i",
        "while read -r l; do n=$((n + 1)); done < names.txt; echo $n",
        "for i in 1 2 3; do echo $((i * 2)); done",
        "for i in {1..3}; do echo $((i * 2)); done",
        "for i in $(seq 3); do echo $((i * 2)); done",
        "n=$(wc -l < a.txt); echo $((n + 1))",
        'n=$(grep -c main "$f"); echo $((n + 1))',
        "n=$(git rev-list --count HEAD); echo $((n - 1))",
        "n=$(ls | wc -l); echo $((n + ${#n}))",
        "echo $(( $(wc -l < a.txt) * 2 ))",
        "for f in *.py; do echo ${f%.py} $((1 + 1)); done",
        'grep "^$x[0-9]*\\$" a.txt',
    ],
)
def test_sums_of_numbers_are_seen_through(command: str) -> None:
    assert not commands(command).opaque
