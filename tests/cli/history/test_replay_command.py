"""`replay --headless`: what was recorded is decided again, and only differences are printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.cli.policy_files import NO_PUSH
from watchgate.cli.base.printing import Exit, Stop

Held = Callable[..., dict[str, Any]]


@pytest.fixture
def policy(tmp_path: Path) -> str:
    path = tmp_path / "new.toml"
    path.write_text(NO_PUSH)
    path.chmod(0o600)
    return str(path)


@pytest.fixture
def export(cli: Cli, held: Held, tmp_path: Path) -> str:
    """What a real core recorded of one request that an operator denied."""
    request = held("git push --force")
    assert cli("deny", request["id"]).code == Exit.DONE
    path = tmp_path / "session.jsonl"
    assert cli("export", "--session", request["session"], "-o", str(path)).code == Exit.DONE
    return str(path)


def test_an_unchanged_policy_has_no_differences(cli: Cli, export: str) -> None:
    said = cli("replay", "--headless", "--check", export)
    assert (said.code, said.out) == (Exit.DONE, "")
    assert "0 of 1 decisions differ" in said.err


def test_the_newest_session_of_the_journal_needs_no_name(cli: Cli, export: str) -> None:
    assert "0 of 1 decisions differ" in cli("replay", "--headless").err


def test_another_policy_is_told_line_by_line(cli: Cli, export: str, policy: str) -> None:
    said = cli("replay", "--headless", "--policy", policy, export)
    assert said.code == Exit.DONE
    (line,) = said.lines
    assert (line["tool"], line["summary"]) == ("Bash", "git push --force")
    assert (line["recorded"]["gate"], line["again"]["gate"]) == ("held", "denied")
    assert line["again"]["word"] == "denied-by-rule"
    assert line["again"]["trace"]["rows"][-1]["verdict"] == "block"
    assert {"gate", "word", "findings", "trace"} <= set(line["differs"])
    assert "1 of 1 decisions differ" in said.err
    assert cli("replay", "--headless", "--check", "--policy", policy, export).code == Exit.REFUSED


def test_another_profile_can_be_tried(cli: Cli, export: str) -> None:
    (line,) = cli("replay", "--headless", "--profile", "watch", export).lines
    assert line["again"]["gate"] == "handback"


def test_what_only_one_of_the_two_takes_is_refused_with_the_other(cli: Cli, export: str) -> None:
    said = cli("replay", "--check", export)
    assert (said.code, "needs --headless" in said.err) == (Exit.USAGE, True)
    said = cli("replay", "--headless", "--speed", "2", export)
    assert (said.code, "for the console" in said.err) == (Exit.USAGE, True)


def test_what_cannot_be_replayed_says_why(cli: Cli, tmp_path: Path, export: str) -> None:
    assert "no recorded session" in cli("replay", "--headless", "nothing-like-it").err
    broken = tmp_path / "broken.jsonl"
    broken.write_text("{")
    assert "line 1" in cli("replay", "--headless", str(broken)).err
    missing = cli("replay", "--headless", "--policy", str(tmp_path / "none.toml"), export)
    assert (missing.code, "there is no file" in missing.err) == (Exit.REFUSED, True)


def test_without_a_journal_there_is_nothing_to_replay(cli: Cli) -> None:
    said = cli("replay", "--headless")
    assert (said.code, "nothing was recorded yet" in said.err) == (Exit.NO_CORE, True)


def test_what_a_running_core_does_not_write_out_is_told(
    cli: Cli, export: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_request: object) -> None:
        raise Stop("the journal found no space on its disk")

    monkeypatch.setattr("watchgate.cli.history.recorded.ask", refuse)
    said = cli("replay", "--headless")
    assert (said.code, "0 of 1 decisions differ" in said.err) == (Exit.DONE, True)
    assert "the newest records may be missing" in said.err
    assert "may be missing" not in cli("replay", "--headless", export).err
