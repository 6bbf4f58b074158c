"""Ordinary and lasting rules: what they match, and what the profiles make of them."""

from __future__ import annotations

import pytest

from tests.core.policy.calls import judge_command, rules
from watchgate.core.policy.rules.load import PolicyError, load
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.rules.profiles import GateAction, gate_action

RULES = """
version = 1

[[rule]]
id = "team.tests"
decision = "ask"
effect = "ordinary"
reason = "Runs this project's tests"
command = [
  { program = "pytest", flags = "*", no_flag = "-p" },
  { program = "docker", sub = "ps", flags = "*", anywhere = true },
  { program = "*", not_program = "*deploy*", flags = "*", project_file = true },
]

[[rule]]
id = "team.push"
decision = "ask"
effect = "lasting"
reason = "Pushes"
command = { program = "git", sub = "push" }

[[rule]]
id = "team.lists"
decision = "allow"
reason = "Lists"
command = { program = ["ls", "cd", "tail"], flags = "*" }
"""


POLICY = Policy.of([load(RULES, "team.toml", "user")])


def rules_of(command: str) -> set[str]:
    return rules(judge_command(command, policy=POLICY))


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -q tests/test_a.py",
        ".venv/bin/pytest",
        "cd web && pytest",
        "pytest 2>&1 | tail -5",
        "pytest /tmp/x",
        "docker ps -a /etc",
        "./run.sh --all",
    ],
)
def test_an_ordinary_rule_knows_what_stays_in_the_folder(command: str) -> None:
    assert rules_of(command) == {"team.tests"}


@pytest.mark.parametrize(
    "command",
    [
        "pytest -p evil",
        "pytest ../other",
        "pytest /etc",
        "pytest ~/x",
        'pytest "$X"',
        "cd /etc && pytest",
        "/opt/bin/pytest",
        "../run.sh",
        "./deploy.sh",
        '"$X"/run.sh',
    ],
)
def test_an_ordinary_rule_does_not_know_what_leaves_it(command: str) -> None:
    assert "team.tests" not in rules_of(command)


@pytest.mark.parametrize(
    ("command", "attended", "autonomous", "strict"),
    [
        ("pytest", "handback", "handback", "handback"),
        ("pytest && ls", "handback", "handback", "handback"),
        ("pytest > out.txt", "handback", "handback", "handback"),
        ("ls > /tmp/x", "handback", "handback", "handback"),
        ("ls > /etc/x", "handback", "handback", "hold"),
        ("pytest && unknown-program", "handback", "hold", "hold"),
        ("git push", "handback", "hold", "hold"),
        ("pytest && git push", "handback", "hold", "hold"),
    ],
)
def test_the_profiles_hold_what_lasts_and_not_what_is_ordinary(
    command: str, attended: GateAction, autonomous: GateAction, strict: GateAction
) -> None:
    found = judge_command(command, policy=POLICY)
    assert found.decision == "ask"
    assert gate_action("guard", found, autonomous=False) == attended
    assert gate_action("guard", found, autonomous=True) == autonomous
    assert gate_action("strict", found, autonomous=False) == strict
    assert gate_action("watch", found, autonomous=True) == "record"


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ('decision = "allow"\neffect = "ordinary"\n', "effect stands in ask and deny rules only"),
        ('risk = "high"\neffect = "lasting"\n', "an effect is of rules that ask at medium"),
        ('effect = "ordinary"\n', "lists all flags"),
        ('effect = "odd"\n', "allowed: ordinary, lasting"),
    ],
)
def test_an_effect_that_cannot_be_is_refused(rule: str, message: str) -> None:
    decision = "" if "decision" in rule else 'decision = "ask"\n'
    text = 'version = 1\n[[rule]]\nid = "a.b"\nreason = "R"\ncommand = { program = "x" }\n'
    with pytest.raises(PolicyError, match=message):
        load(text + decision + rule, "x.toml", "user")


def test_a_projects_file_has_no_ordinary_rules() -> None:
    with pytest.raises(PolicyError, match="may only tighten"):
        load(RULES.partition('[[rule]]\nid = "team.push"')[0], "x.toml", "project")
