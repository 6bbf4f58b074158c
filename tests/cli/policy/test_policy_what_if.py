from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.policy_files import NO_PUSH, write_calls
from watchgate.cli.base.ask import ask
from watchgate.cli.base.printing import Exit
from watchgate.link.protocol import Request


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "new.toml"
    path.write_text(NO_PUSH)
    path.chmod(0o600)
    return str(path)


def test_every_call_that_would_be_treated_otherwise_is_listed(cli: Cli, policy: str) -> None:
    write_calls(("git push origin x", "handback"), ("frobnicate", "handback"))
    said = cli("policy", "what-if", policy, "--json")
    assert said.code == Exit.DONE
    (line,) = said.lines
    assert (line["seq"], line["summary"], line["cwd"]) == (1, "git push origin x", "/srv/app")
    assert (line["was"]["does"], line["would"]["does"]) == ("handback", "deny")
    assert line["would"]["rule"] == "team.no-push"
    assert "1 of 2 calls" in said.err
    assert "team.no-push" in cli("policy", "what-if", policy).out


def test_another_profile_can_be_tried(cli: Cli, policy: str) -> None:
    write_calls(("frobnicate", "handback"))
    said = cli("policy", "what-if", policy, "--profile", "strict", "--json")
    assert [line["would"]["does"] for line in said.lines] == ["hold"]


def test_only_the_calls_of_late_count_where_that_is_asked(cli: Cli, policy: str) -> None:
    write_calls(("git push", "handback"))
    said = cli("policy", "what-if", policy, "--since", "1d")
    assert (said.out, "0 of 0 calls" in said.err) == ("", True)
    assert cli("policy", "what-if", policy, "--since", "soon").code == Exit.USAGE


def test_what_a_real_core_recorded_is_judged_again_as_it_was(
    cli: Cli, held: Callable[..., dict[str, Any]], policy: str, tmp_path: Path
) -> None:
    held("frob && git push --force")
    ask(Request(id=1, verb="search", filter=""))  # answers when all is written
    same = tmp_path / "same.toml"
    same.write_text("version = 1\n")
    same.chmod(0o600)
    said = cli("policy", "what-if", str(same), "--json")
    assert (said.out, "0 of 1 calls" in said.err) == ("", True)
    (line,) = cli("policy", "what-if", policy, "--json").lines
    assert (line["was"]["does"], line["would"]["does"]) == ("hold", "deny")
    assert line["was"]["rule"] == "git.force-push"


def test_without_a_journal_there_is_nothing_to_judge(cli: Cli, policy: str) -> None:
    said = cli("policy", "what-if", policy)
    assert said.code == Exit.NO_CORE
    assert "nothing was recorded" in said.err


def test_a_policy_that_is_wrong_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    write_calls(("git push", "handback"))
    bad = tmp_path / "bad.toml"
    bad.write_text("version = 1\nrules = []\n")
    bad.chmod(0o600)
    said = cli("policy", "what-if", str(bad))
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert f"{bad}:2" in said.err


def test_without_a_file_the_rules_that_are_there_judge(cli: Cli) -> None:
    write_calls(("frobnicate", "handback"), ("git status", "handback"))
    assert "0 of 2 calls" in cli("policy", "what-if").err
    (line,) = cli("policy", "what-if", "--profile", "strict", "--json").lines
    assert (line["summary"], line["would"]["does"]) == ("frobnicate", "hold")


@pytest.mark.parametrize("text", ["", "# nothing yet\n"])
def test_an_empty_file_says_how_an_empty_policy_is_written(
    cli: Cli, tmp_path: Path, text: str
) -> None:
    path = tmp_path / "empty.toml"
    path.write_text(text)
    said = cli("policy", "what-if", str(path))
    assert said.code == Exit.REFUSED
    assert "nothing is in this file: write `version = 1`" in said.err


def test_bare_it_says_how_much_each_profile_holds_and_what_would_take_that_away(cli: Cli) -> None:
    write_calls(("frobnicate all", "handback"), ("frobnicate all", "handback"), ("ls", "handback"))
    told = cli("policy", "what-if").out
    assert "guard, nobody there" in told
    assert "frobnicate all *  lets 2 calls through" in told
    assert 'effect = "ordinary"' in told
    line = cli("policy", "what-if", "--json").lines[-1]
    assert line["kind"] == "held"
    assert line["rates"] == {"hours": 1, "guard": 0, "guard_alone": 2, "strict": 2}
    assert [each["kind"] for each in line["proposals"]] == ["rule", "rule"]
