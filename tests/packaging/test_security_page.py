"""docs/security.md claims nothing that no test holds."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()
THREATS = range(1, 46)

ROWS = [line for line in PAGE.splitlines() if re.match(r"\| \d+ \|", line)]
TESTS = re.findall(r"^(\d+)\. ((?:`tests/[\w/]+\.py::test_\w+`[,\s]*)+)$", PAGE, re.MULTILINE)
NAMED = sorted(set(re.findall(r"`(tests/[\w/]+\.py::\w+)`", PAGE)))


@cache
def _tests(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text())
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {each.name for each in ast.walk(tree) if isinstance(each, kinds)}


def test_every_threat_has_one_row_and_its_tests() -> None:
    assert [int(row.split("|")[1]) for row in ROWS] == list(THREATS)
    assert [int(number) for number, _ in TESTS] == list(THREATS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.split("|")[1].strip())
def test_every_row_names_a_threat_and_an_answer(row: str) -> None:
    _, _, threat, answer, _ = row.split("|")
    assert threat.strip()
    assert answer.strip()


def test_every_named_test_exists() -> None:
    split = [named.partition("::") for named in NAMED]
    assert [path for path, _, _ in split if not (ROOT / path).is_file()] == []
    assert [f"{path}::{name}" for path, _, name in split if name not in _tests(path)] == []


@pytest.mark.parametrize(
    "words",
    [
        "A hostile process of the same user",
        "Root",
        "The agent's own faults",
        "What an allowed program does",
        "Code that is handed to an interpreter",
        "A script that changes",
        "Several people who use one account",
        "Denial of service by the same user",
    ],
)
def test_what_is_not_defended_is_said(words: str) -> None:
    undefended = PAGE.partition("## What is not defended")[2].partition("\n## ")[0]
    assert f"**{words}" in undefended


def test_the_page_says_how_to_report_a_weakness() -> None:
    assert "Report a vulnerability" in PAGE
    assert "@" not in PAGE
