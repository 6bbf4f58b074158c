from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.cli.policy_files import NO_PUSH, own_policy
from watchgate.cli.base.printing import Exit


def test_a_line_has_the_decision_the_risk_and_each_finding_with_its_span(cli: Cli) -> None:
    own_policy(NO_PUSH)
    (line,) = cli("policy", "check", "--json", "cd x && git push").lines
    assert (line["decision"], line["risk"], line["opaque"]) == ("deny", "high", False)
    found = next(each for each in line["findings"] if each["rule"] == "team.no-push")
    assert (found["reason"], found["segment"]) == ("Nobody pushes from here", 2)
    assert "cd x && git push"[slice(*found["span"])].startswith("git")
    assert [part["number"] for part in line["segments"]] == [1, 2]


@pytest.mark.parametrize(
    ("command", "guard", "guard_unattended", "strict"),
    [
        ("git status", False, False, False),
        ("frobnicate", False, True, True),
        ("terraform destroy", True, True, True),
        ("git push", True, True, True),
    ],
)
def test_a_line_says_under_which_profiles_the_call_waits_or_is_denied(
    cli: Cli, command: str, *, guard: bool, guard_unattended: bool, strict: bool
) -> None:
    own_policy(NO_PUSH)
    (line,) = cli("policy", "check", "--json", command).lines
    expected = {"guard": guard, "guard_unattended": guard_unattended, "strict": strict}
    assert line["held"] == expected
    assert 0 < line["took_us"] < 50_000_000


def test_a_person_reads_the_reason_the_way_out_and_what_the_gate_would_do(cli: Cli) -> None:
    own_policy(NO_PUSH)
    said = cli("policy", "check", "cd x && git push")
    assert said.code == Exit.DONE
    assert "under guard denied" in said.out
    assert "team.no-push: Nobody pushes from here  <- git push" in said.out
    assert "safer: open a merge request" in said.out
    assert "2/2" in said.out


def test_equal_findings_are_one_line_and_the_gravest_is_the_first(cli: Cli) -> None:
    lines = cli("policy", "check", "frobnicate; sudo x; frobulate").out.splitlines()
    assert "system.privilege: Runs x with the rights of root" in lines[1]
    (unknown,) = (line for line in lines if "No rule knows this command" in line)
    assert unknown.endswith("<- frobnicate; frobulate")


def test_many_commands_are_answered_one_line_each_in_order(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_policy(NO_PUSH)
    commands = ["git push", "frobnicate", "git push -f", "a\nb", "\ud800"]
    given = b"".join(json.dumps(each).encode() + b"\n" for each in commands)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    said = cli("policy", "check", "--stdin", "--json")
    assert said.code == Exit.DONE
    words = [line["decision"] for line in said.lines]
    assert words == ["deny", "ask", "deny", "ask", "ask"]


@pytest.mark.parametrize("line", ["git push", '{"command": "ls"}', "1", ""])
def test_a_line_that_is_no_json_string_ends_the_command_with_its_number(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    given = f'"ls"\n{line}\n'.encode()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    said = cli("policy", "check", "--stdin", "--json")
    assert (said.code, len(said.lines)) == (Exit.USAGE, 1)
    assert "line 2 is not a JSON string" in said.err


def test_other_tools_are_judged_by_their_input(cli: Cli, tmp_path: Path) -> None:
    policy = tmp_path / "p.toml"
    policy.write_text(
        'version = 1\n[[rule]]\nid = "t.env"\ndecision = "deny"\nreason = "r"\n'
        'paths = { access = "write", any = "**/.env" }\n'
    )
    given = ("--tool", "Write", "--input", '{"file_path": "a/.env"}', "--policy", str(policy))
    (line,) = cli("policy", "check", "--json", *given).lines
    assert line["decision"] == "deny"


@pytest.mark.parametrize(
    "args",
    [
        (),
        ("ls", "--stdin"),
        ("ls", "--tool", "Edit"),
        ("--tool", "Edit", "--input", "[]"),
        ("--tool", "Edit", "--input", "{"),
    ],
)
def test_it_is_told_exactly_one_thing_to_judge(cli: Cli, args: tuple[str, ...]) -> None:
    assert cli("policy", "check", *args).code == Exit.USAGE


def test_a_broken_policy_ends_the_command_with_the_line_that_is_to_be_mended(cli: Cli) -> None:
    path = own_policy(NO_PUSH.replace('"deny"', '"forbid"'))
    for command in (("check", "ls"), ("explain", "git.push"), ("table",)):
        said = cli("policy", *command)
        assert said.code == Exit.REFUSED
        assert f"{path}:5" in said.err


def test_a_policy_that_is_not_there_is_said(cli: Cli) -> None:
    said = cli("policy", "check", "ls", "--policy", "nowhere.toml")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "nowhere.toml" in said.err


def test_a_project_s_file_counts_where_the_call_is_made(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "app" / ".watchgate"
    folder.mkdir(parents=True)
    (folder / "policy.toml").write_text(NO_PUSH)
    (there,) = cli("policy", "check", "--json", "git push", "--cwd", str(folder.parent)).lines
    (here,) = cli("policy", "check", "--json", "git push", "--cwd", str(tmp_path)).lines
    assert (there["decision"], here["decision"]) == ("deny", "ask")


def test_a_broken_file_of_a_project_is_complained_of(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / ".watchgate"
    folder.mkdir()
    (folder / "policy.toml").write_text("version = 2\n")
    said = cli("policy", "check", "--json", "ls", "--cwd", str(tmp_path))
    assert said.lines[0]["decision"] == "ask"
    assert str(folder / "policy.toml") in said.err


def cases(path: Path, *lines: str) -> str:
    file = path / "cases.jsonl"
    file.write_text("\n".join(lines))
    return str(file)


def test_cases_that_are_as_expected_are_done(cli: Cli, tmp_path: Path) -> None:
    own_policy(NO_PUSH)
    file = cases(
        tmp_path,
        '{"command": "git push", "expected": "deny", "risk": "high", "rule": "team.no-push"}',
        '{"command": "frobnicate", "expected": "ask"}',
    )
    said = cli("policy", "test", file)
    assert (said.code, said.out) == (Exit.DONE, "")
    assert "2 of 2 cases" in said.err


def test_a_case_that_differs_is_told_with_its_line_and_what_was_said(
    cli: Cli, tmp_path: Path
) -> None:
    own_policy(NO_PUSH)
    file = cases(tmp_path, "", '{"command": "git push", "expected": "ask"}')
    said = cli("policy", "test", file)
    assert said.code == Exit.REFUSED
    assert f"{file}:2: git push: expected ask, not deny; for team.no-push: Nobody" in said.out
    (line,) = cli("policy", "test", file, "--json").lines
    assert (line["line"], line["ok"], line["decision"]) == (2, False, "deny")


def test_a_file_that_holds_no_cases_is_a_usage_error_with_its_line(
    cli: Cli, tmp_path: Path
) -> None:
    file = cases(tmp_path, '{"command": "ls"}')
    said = cli("policy", "test", file)
    assert said.code == Exit.USAGE
    assert f"{file}:1: expects nothing" in said.err
    assert cli("policy", "test", str(tmp_path / "none")).code == Exit.REFUSED
