from __future__ import annotations

import pytest

from watchgate.service.identity.ancestry import is_working_shell

WORKING = [
    ["sh", "-c", "client.py gate"],
    ["/bin/bash", "-c", "x"],
    ["bash", "-lc", "x"],
    ["bash", "-euo", "pipefail", "-c", "x"],
    ["bash", "-ic", "x"],
    ["-bash", "-c", "x"],
    ["zsh", "-o", "extendedglob", "-c", "x"],
    ["dash", "guard.sh"],
    ["bash", "--norc", "guard.sh", "-i"],
    ["bash", "--rcfile", "rc", "guard.sh"],
    ["bash", "--", "guard.sh"],
    ["sh", "-s", "argument"],
    ["bash", "/dev/fd/3"],
    ["fish", "--command=ls"],
    ["fish", "--command", "ls"],
    ["busybox", "sh", "-c", "x"],
    ["/bin/busybox", "ash", "guard.sh"],
    ["nu", "-c", "x"],
    ["elvish", "-c", "x"],
    ["pwsh", "-NoLogo", "-Command", "x"],
]

TYPED_INTO = [
    ["bash"],
    ["-zsh"],
    ["bash", "-i"],
    ["bash", "--login"],
    ["bash", "-l", "-i"],
    ["bash", "--rcfile", "rc"],
    ["zsh", "-o", "vi"],
    ["bash", "+O", "extglob"],
    ["busybox", "sh"],
    ["sh", "--"],
    ["sh", "-"],
    ["pwsh", "-NoLogo"],
    ["nu"],
]

NO_SHELLS = [
    ["claude"],
    ["node", "-c", "x"],
    ["python3", "-c", "x"],
    ["busybox"],
    ["/opt/sh/agent", "-c"],
]


@pytest.mark.parametrize("cmd", WORKING)
def test_a_shell_that_does_a_command_is_looked_through(cmd: list[str]) -> None:
    assert is_working_shell(tuple(cmd), "anything")


@pytest.mark.parametrize("cmd", TYPED_INTO)
def test_a_shell_that_a_person_sits_at_is_not(cmd: list[str]) -> None:
    assert not is_working_shell(tuple(cmd), "sh")


@pytest.mark.parametrize("cmd", NO_SHELLS)
def test_other_programs_are_no_shells_whatever_their_options(cmd: list[str]) -> None:
    assert not is_working_shell(tuple(cmd), "node")


def test_without_a_command_line_a_shell_counts_as_typed_into() -> None:
    assert not is_working_shell((), "bash")
