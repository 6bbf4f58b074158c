"""`watchgate policy init`: rules to start with."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from watchgate.cli.base.printing import Exit


@pytest.fixture
def path() -> Path:
    return Path(os.environ["WATCHGATE_CONFIG"]).with_name("policy.toml")


def judged(cli: Cli) -> dict[str, Any]:
    """The answer about a command, without the time that it took."""
    (line,) = cli("policy", "check", "make deploy", "--json").lines
    return {key: value for key, value in line.items() if key != "took_us"}


def test_it_writes_a_file_that_changes_nothing_and_no_second_time(cli: Cli, path: Path) -> None:
    before = judged(cli)
    said = cli("policy", "init")
    assert (said.code, "watchgate policy reload" in said.out) == (Exit.DONE, True)
    assert path.stat().st_mode & 0o777 == 0o600
    assert judged(cli) == before
    again = cli("policy", "init")
    assert (again.code, str(path) in again.err) == (Exit.REFUSED, True)


def test_its_examples_are_rules_that_do_what_they_say(cli: Cli, path: Path) -> None:
    cli("policy", "init")
    rules = re.sub(r"(?m)^# (?=\[\[rule|\w+ = )", "", path.read_text())
    path.write_text(rules)
    (deploy,) = cli("policy", "check", "make deploy", "--json").lines
    assert (deploy["decision"], deploy["risk"]) == ("ask", "high")
    (tests,) = cli("policy", "check", "pytest -q tests", "--json").lines
    assert tests["decision"] == "allow"
