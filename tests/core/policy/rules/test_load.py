"""A policy file is taken whole or refused with the line that is wrong and how to mend it."""

from __future__ import annotations

import pytest

from tests.core.policy.written import loaded
from watchgate.core.policy.inputs.rule_file import Tier
from watchgate.core.policy.judging.rule_examples import check_examples
from watchgate.core.policy.rules.load import PolicyError, load
from watchgate.core.policy.rules.policy import Policy

GOOD = '[[rule]]\nid = "a.b"\ndecision = "ask"\nreason = "It would"\ncommand = { program = "x" }\n'


def refused(rules: str, tier: Tier = "user") -> str:
    """What is said about a file that cannot be used."""
    try:
        file = loaded(rules, tier)
        check_examples(Policy.of([file]), file)
    except PolicyError as fault:
        return str(fault)
    return ""


def test_a_good_file_is_taken() -> None:
    assert [rule.id for rule in loaded(GOOD).file.rule] == ["a.b"]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("x = ", "policy.toml:2: not valid TOML"),
        ("[defaults]\nopaque = 'allow'", "policy.toml:3: defaults.opaque: 'allow' is not allowed;"),
        ("[[rules]]", "policy.toml:2: unknown key rules; did you mean rule?"),
        (GOOD + "colour = 1", "policy.toml:7: unknown key rule.colour;"),
        (GOOD.replace("ask", "asks"), "policy.toml:4: rule.decision: 'asks' is not allowed;"),
        (GOOD.replace('"x"', '"x", flgs = []'), "policy.toml:6: unknown key rule.command.flgs;"),
        (GOOD + GOOD, "policy.toml:8: rule a.b: stands twice in this file;"),
        (GOOD.replace("a.b", "ab"), "policy.toml:3: rule ab: an id is words with dots between"),
        (GOOD.replace("a.b", "text.b"), "policy.toml:3: rule text.b: ids that begin with text."),
        (GOOD.replace('reason = "It would"', ""), "rule a.b: has no reason; add one sentence"),
        (GOOD.replace("command", "#"), "rule a.b: matches every call; add what it is about"),
        (GOOD + "until = 2026-12-31T00:00:00", "policy.toml:7: rule a.b: write the time with its"),
        (GOOD + 'risk = "unknown"', "policy.toml:7: rule a.b: unknown is for texts"),
        (GOOD + 'raw = "("', "rule a.b: '(' is no regular expression"),
        (GOOD + 'env = "@nobody"', "rule a.b: no set is called @nobody; add it under [sets]"),
        ('sets.a = ["@a"]\n' + GOOD + 'env = "@a"', "rule a.b: the set @a holds itself"),
        (GOOD + 'match = ["y"]', "policy.toml:7: rule a.b: does not match its example 'y'; mend"),
        (GOOD + 'not_match = ["x"]', "policy.toml:7: rule a.b: matches its example 'x'; mend"),
        ("disable = ['no.rule']", "policy.toml:2: disable: no.rule is no shipped rule; remove it"),
    ],
)
def test_a_fault_is_named_with_its_line_and_its_mend(rules: str, said: str) -> None:
    assert said in refused(rules)
    assert refused(rules).startswith("policy.toml")


ALLOW = '[[rule]]\nid = "a.b"\ndecision = "allow"\n'


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (ALLOW, "an allow names its command or its tools; add one of them"),
        (ALLOW + 'tools = "Bash"', "an allow for the shell needs command"),
        (ALLOW + "command = { flags = [] }", "a rule that loosens names its programs one by one"),
        (
            ALLOW + 'command = { program = "x*", flags = [] }',
            "a rule that loosens names its programs one by",
        ),
        (
            ALLOW + 'command = { program = "x" }',
            "a rule that loosens lists all flags that may occur",
        ),
        (ALLOW + 'tools = "Read"\nraw = "x"', "raw stands in ask and deny rules only"),
        (ALLOW + 'tools = "Read"\nrisk = "high"', "an allow has no risk high; remove it, or ask"),
    ],
)
def test_an_allow_must_be_closed(rules: str, said: str) -> None:
    assert f"rule a.b: {said}" in refused(rules)


def test_a_project_may_only_tighten() -> None:
    allow = ALLOW + 'command = { program = "x", flags = [] }'
    assert "may only add ask and deny; put the allow into your own" in refused(allow, "project")
    assert "may only add ask and deny; remove it" in refused("disable = ['a.b']", "project")
    assert loaded(GOOD, "project").file.rule


def test_a_file_without_its_version_is_refused() -> None:
    with pytest.raises(PolicyError, match=r"^policy\.toml: version is missing; add it$"):
        load(GOOD, "policy.toml", "user")


def test_a_file_that_nobody_wrote_by_hand_is_refused() -> None:
    with pytest.raises(PolicyError, match="longer than"):
        load("#" * 1_000_001, "policy.toml", "user")
