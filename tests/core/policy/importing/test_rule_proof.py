from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.core.policy.importing.reading import made, one
from watchgate.core.model.assessment import Decision
from watchgate.core.policy.importing import codex_rules
from watchgate.core.policy.importing.imported_rule import Imported
from watchgate.core.policy.importing.rule_proof import (
    VERSION,
    check_import,
    fragment,
    limit_to_agent,
    note_conflict,
)
from watchgate.core.policy.inputs.rule_file import PathMatch
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.judging.rule_examples import subject_of
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.policies.policy_files import shipped


def says(found: Imported, call: str | dict[str, Any]) -> Decision:
    """What the written text makes of a call, read back as a policy file."""
    loaded = load(VERSION + fragment([check_import(found)]), "policy.toml", "user")
    return assess(subject_of(call), Policy.of((loaded,)), 0).decision


@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("npm run test", "allow"),
        ("npm run test -- --watch", "allow"),
        ("npm run test && npm run test x", "allow"),
        ("npm run tests", "ask"),
        ("npm --prefix /x run test", "ask"),
        ("./npm run test", "ask"),
        ("npm run test > out", "ask"),
        ("PATH=/tmp npm run test", "ask"),
        ("npm run test; rm -rf x", "ask"),
        ("npm run test $(rm -rf x)", "ask"),
        ("'npm run' test", "ask"),
    ],
)
def test_an_imported_allow_fits_these_words_and_keeps_our_restrictions(
    command: str, decision: Decision
) -> None:
    assert says(one("Bash(npm run test:*)"), command) == decision


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin main",
        "git -C x push",
        "sudo git push",
        "cd x && git push",
        "echo $(git push)",
        "bash -c 'git push'",
        "g\\it pu''sh",
    ],
)
def test_an_imported_denial_is_seen_inside_wrappers_and_substitutions(command: str) -> None:
    assert says(one("Bash(git push *)", "deny"), command) == "deny"


def test_an_exact_command_fits_with_nothing_behind_it() -> None:
    found = one('Bash(git commit -m "two words")')
    assert says(found, "git commit -m 'two words'") == "allow"
    assert says(found, "git commit -m two words") == "ask"
    assert says(found, "git commit -m 'two words' --amend") == "ask"


@pytest.mark.parametrize(
    ("path", "decision"),
    [
        ("src/a.ts", "allow"),
        ("/home/me/work/src/deep/a.ts", "allow"),
        ("../other/src/a.ts", "ask"),
        ("/etc/src/a.ts", "ask"),
    ],
)
def test_an_imported_path_stays_below_the_session_s_folder(path: str, decision: Decision) -> None:
    call: dict[str, Any] = {"tool": "Edit", "input": {"file_path": path}}
    assert says(one("Edit(./src/**)"), call) == decision


def test_a_denied_path_is_seen_in_commands_too() -> None:
    found = one("Read(.env)", "deny")
    assert says(found, "cat app/.env") == "deny"
    assert says(found, {"tool": "Write", "input": {"file_path": ".env"}}) == "deny"


def test_examples_of_codex_are_tried() -> None:
    (good,) = codex_rules.read('prefix_rule(pattern=["git", "status"], match=["git status -s"])')
    (bad,) = codex_rules.read('prefix_rule(pattern=["git", "status"], match=["git log"])')
    assert check_import(good) == good
    assert (check_import(bad).outcome, check_import(bad).rule) == ("refused", None)
    assert "git log" in check_import(bad).note


def test_a_rule_that_cannot_be_loaded_is_refused_in_the_loader_s_words() -> None:
    found = one("Read(~/x)")
    paths = PathMatch(access="read", any="@nobody")
    wrong = msgspec.structs.replace(made(found), paths=paths)
    refused = check_import(msgspec.structs.replace(found, rule=wrong))
    assert (refused.outcome, refused.rule) == ("refused", None)
    assert "nobody" in refused.note


@pytest.mark.parametrize(
    ("rule", "said"),
    [("Bash(env a b)", "allow"), ("Bash($X *)", "deny"), ("Bash(while *)", "deny")],
)
def test_a_rule_that_would_never_hold_is_refused(rule: str, said: str) -> None:
    found = one(rule, said)
    assert found.outcome == "understood"
    assert "would never hold" in check_import(found).note


@pytest.mark.parametrize("program", ["python3", "node18", "g++", "rm", "sudo", "git"])
def test_a_denied_program_is_denied_however_it_is_called(program: str) -> None:
    found = one(f"Bash({program} *)", "deny")
    assert says(found, f"{program} x") == "deny"
    assert says(found, f"/usr/bin/{program} x") == "deny"


def test_rules_can_be_bound_to_the_agent_that_they_were_written_for() -> None:
    assert made(limit_to_agent(one("Bash(make)"), "claude")).agents == "claude"


@pytest.mark.parametrize(
    ("allowed", "command", "rule"),
    [
        ("Bash(git push:*)", "git push", "git.push"),
        ("Bash(npm link *)", "npm link", "packages.change"),
        ("Bash(git push origin main)", "git push origin main", "git.push-shared"),
    ],
)
def test_an_allow_that_a_shipped_rule_outweighs_says_which_rule_still_asks(
    allowed: str, command: str, rule: str
) -> None:
    found = note_conflict(check_import(one(allowed)), shipped())
    assert found.outcome == "approximated"
    assert f"still asks about `{command}` ({rule}: " in found.note


@pytest.mark.parametrize("allowed", ["Bash(npm run test:*)", "Bash(git status)", "Bash(python *)"])
def test_an_allow_that_no_shipped_rule_always_outweighs_is_understood(allowed: str) -> None:
    assert note_conflict(check_import(one(allowed)), shipped()).outcome == "understood"


def test_a_denial_is_not_outweighed_by_an_ask() -> None:
    assert (
        note_conflict(check_import(one("Bash(git push:*)", "deny")), shipped()).outcome
        == "understood"
    )


def test_what_differs_besides_is_still_told() -> None:
    found = one("Bash(git push:*)")
    noted = note_conflict(msgspec.structs.replace(found, note="another thing"), shipped())
    assert noted.note.startswith("another thing; a shipped rule still asks")
