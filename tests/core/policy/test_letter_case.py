"""Some file systems take `.ENV` for `.env`: what asks is read without case, what allows with it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.policy.calls import CWD, HOME, judge_command, judge_tool, rules
from tests.core.policy.written import allow, ask, judged, policy
from watchgate.core.model.events import ToolClass


@pytest.mark.parametrize(
    "command",
    [
        "cat .ENV",
        "cat .Env.Local",
        "cat ~/.SSH/ID_RSA",
        "cat .EN*",
        "cat ~/.AWS/cred*",
        "tail -n1 < .ENV",
        "cat /ETC/SHADOW",
        "cp SECRETS.YAML x",
        "find . -name .ENV -exec cat {} +",
        "echo $(cat .ENV",
    ],
)
def test_a_secret_in_other_letters_is_a_secret(command: str) -> None:
    found = judge_command(command)
    assert found.decision == "ask"
    assert any(rule.startswith("secrets.") for rule in rules(found))


@pytest.mark.parametrize(
    ("cls", "given", "rule"),
    [
        ("read", {"file_path": ".ENV"}, "secrets.read"),
        ("read", {"file_path": "Deploy/Secrets/prod.txt"}, "secrets.read.folder"),
        ("read", {"pattern": "KEY", "glob": "**/.ENV"}, "secrets.search"),
        ("edit", {"file_path": ".ENV", "old_string": "a", "new_string": "b"}, "secrets.edit"),
        ("edit", {"file_path": "~/.Claude/Settings.json", "content": "{}"}, "own.edit"),
        ("edit", {"file_path": "/RUN/user/1000/Watchgate/x", "content": ""}, "own.edit"),
        ("mcp", {"where": f"{HOME}/.Config/WATCHGATE/policy.toml"}, "own.input"),
        ("mcp", {"where": "/home/me/.CLAUDE/settings.json"}, "own.input"),
    ],
)
def test_tools_are_asked_about_such_files_in_any_letters(
    cls: ToolClass, given: dict[str, Any], rule: str
) -> None:
    found = judge_tool("tool", cls, given)
    assert found.decision == "ask"
    assert rule in rules(found)


@pytest.mark.parametrize(
    "command",
    [
        "rm /HOME/ada/.Config/watchgate/policy.toml",
        "rm -r ~/.local/State",
        "echo '{}' > ~/.CLAUDE/settings.json",
        "mv x .GIT/hooks/pre-commit",
    ],
)
def test_our_own_files_and_what_runs_later_are_known_in_any_letters(command: str) -> None:
    assert judge_command(command).risk in ("high", "critical")


def test_a_text_that_cannot_be_read_names_them_in_any_letters() -> None:
    found = judge_command("perl -e 'unlink \".CLAUDE/Settings.json\"'")
    assert found.risk == "critical"


def test_an_exception_of_an_ask_rule_is_read_as_it_is_written() -> None:
    assert judge_command("cat .env.example").decision == "allow"
    assert judge_command("cat .env.EXAMPLE").decision == "ask"


PATHS = '\npaths = {{ any = "{any}", none = "{none}" }}'


def test_an_allow_rule_takes_in_no_other_letters_and_its_exceptions_all() -> None:
    rule = policy(allow('{ program = "show", flags = [] }') + PATHS.format(any="x*", none="xb*"))
    assert judged(rule, "show x1").decision == "allow"
    for command in ("show X1", "show xb1", "show xB1"):
        assert judged(rule, command).decision == "ask"


def test_the_same_holds_for_the_paths_of_its_commands_and_its_folder() -> None:
    shape = policy(allow('{ program = "show", flags = [], paths = { any = "x*" } }'))
    assert judged(shape, "show x1").decision == "allow"
    assert judged(shape, "show X1").decision == "ask"
    folder = policy(allow('{ program = "show", flags = [] }') + f'\ncwd = "{CWD}"')
    assert judged(folder, "show", cwd=CWD).decision == "allow"
    assert judged(folder, "show", cwd=CWD.upper()).decision == "ask"


def test_letters_in_brackets_are_just_those() -> None:
    rule = policy(ask('{ program = "show" }') + '\npaths = { any = "hea[D]" }')
    asked = {
        name for name in ("heaD", "HEAD", "head") if judged(rule, f"show {name}").risk == "high"
    }
    assert asked == {"heaD", "HEAD"}


def test_a_folder_of_a_project_is_not_taken_for_a_file_of_git() -> None:
    assert "files.run-later" in rules(judge_command("cp x repo/HEAD"))
    assert "files.run-later" in rules(judge_command("cp x repo/HE?D"))
    assert "files.run-later" not in rules(judge_command("cp x src/Head/index.tsx"))
