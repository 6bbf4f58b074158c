"""Variables that can end a hook before its first word."""

from __future__ import annotations

import time

import pytest

from watchgate.service.watch.integrity.file_judges import (
    of_dotenv,
    of_settings,
    of_unreadable,
    reaching,
)


@pytest.mark.parametrize(
    "name",
    [
        *("LD_PRELOAD", "LD_LIBRARY_PATH", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV"),
        *("BASH_FUNC_test%%", "SHELLOPTS", "BASHOPTS", "PYTHONPATH", "PYTHONSTARTUP"),
        *("GLIBC_TUNABLES", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "COPILOT_HOME"),
    ],
)
def test_what_the_loader_the_shell_or_the_interpreter_reads_is_found(name: str) -> None:
    assert of_settings({"env": {"PATH": "/bin", name: "x"}}) == [name]
    assert of_unreadable(f'{{"env": {{"{name}" : "x"}}, }}') == [name]


@pytest.mark.parametrize("settings", [{}, [], None, {"env": []}, {"env": {"PATH": "/x", "A": 1}}])
def test_all_else_is_let_be(settings: object) -> None:
    assert of_settings(settings) == []


def test_env_is_a_file_for_shells_and_a_word_for_everybody_else() -> None:
    assert reaching({"ENV": "production"}) == []
    for value in ("/tmp/x", "$HOME/x", "./rc", "~x"):
        assert reaching({"ENV": value}) == ["ENV"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("LD_PRELOAD=./gag.so", ["LD_PRELOAD"]),
        ("  export\tLD_PRELOAD = './gag.so'", ["LD_PRELOAD"]),
        ("LD_PRELOAD: ./gag.so", ["LD_PRELOAD"]),
        ("# LD_PRELOAD=./gag.so", []),
        ("MY_LD_PRELOAD=1", []),
        ("ENV=production", []),
        ("PYTHONPATH=src", []),
    ],
)
def test_a_file_of_variables_is_read_by_lines(line: str, found: list[str]) -> None:
    assert of_dotenv(f"A=1\n{line}\r\nB=2\n") == found


@pytest.mark.parametrize("hostile", [" " * 400_000, "\n" * 400_000, "A" * 400_000, '"A' * 200_000])
def test_no_text_takes_long(hostile: str) -> None:
    began = time.process_time()
    of_dotenv(hostile)
    of_unreadable(hostile)
    assert time.process_time() - began < 2
