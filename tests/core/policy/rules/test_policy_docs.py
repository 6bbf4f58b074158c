"""The pages about the policy: every key is explained, and each file shown can be used as it is."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from watchgate.core.gate.rate_limit import PAUSE_S, PENDING_MAX, QUEUED_A_MINUTE, RETRIES_DENIED
from watchgate.core.gate.retries import REMEMBERED_S
from watchgate.core.policy.inputs import text_guards
from watchgate.core.policy.inputs.rule_file import (
    CommandMatch,
    Defaults,
    PathMatch,
    PolicyFile,
    RuleData,
)
from watchgate.core.policy.judging import command_finder
from watchgate.core.policy.judging.rule_examples import check_examples
from watchgate.core.policy.rules import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.core.policy.shell import shell_reader, word_reader
from watchgate.service.policies.policy_files import shipped_files
from watchgate.service.watch.facts.facts_watch import LIMIT_S

DOCS = Path(__file__).parents[4] / "docs"
TAUGHT = (DOCS / "policy.md").read_text(encoding="utf-8")
TEXT = TAUGHT + (DOCS / "policy-reference.md").read_text(encoding="utf-8")
MAX_TAUGHT_LINES = 130
FILES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("text", FILES)
def test_every_policy_that_is_shown_loads_and_does_what_its_examples_say(text: str) -> None:
    loaded = load.load(text, "docs/policy.md", "user")
    check_examples(Policy.of((*shipped_files(), loaded)), loaded)


def test_the_policy_is_taught_on_one_page() -> None:
    assert len(TAUGHT.splitlines()) <= MAX_TAUGHT_LINES


@pytest.mark.parametrize("struct", [CommandMatch, Defaults, PathMatch, PolicyFile, RuleData])
def test_every_key_of_a_policy_file_is_told(struct: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(struct):
        assert re.search(rf"`{field.name}`|\b{field.name} =|\[\[?{field.name}\]", TEXT), field.name


@pytest.mark.parametrize("rule", re.findall(r"explain ([a-z]+\.[a-z-]+) ", TEXT))
def test_every_rule_that_is_named_is_there(rule: str) -> None:
    assert any(each.id == rule for file in shipped_files() for each in file.file.rule)


def test_the_limits_that_are_told_are_those_in_force() -> None:
    assert f"paused for {PAUSE_S:.0f} s when it has {PENDING_MAX} open requests" in TEXT
    assert f"more than {QUEUED_A_MINUTE} of its calls came within a minute" in TEXT
    assert RETRIES_DENIED == 3
    assert "an operator denied three such new tries" in TEXT
    assert REMEMBERED_S == 300
    assert "comes again within five minutes" in TEXT
    assert f"for {LIMIT_S} s at most" in TEXT


def test_the_limits_of_a_projects_file_are_those_in_force() -> None:
    assert f"{load.PROJECT_CHARS:,} characters and {load.PROJECT_RULES} rules at most" in TEXT
    assert load.WILDCARDS == 3
    assert "no more than three wildcards in a pattern for paths" in TEXT


def test_the_limits_of_a_command_that_can_be_read_are_those_in_force() -> None:
    assert f"longer than {text_guards.MAX_CHARS:,} characters" in TEXT
    assert f"more than {command_finder.MAX_COMMANDS} commands" in TEXT
    assert f"wrappers more than {command_finder.MAX_DEPTH} deep" in TEXT
    assert f"groups more than {shell_reader.MAX_DEPTH} deep" in TEXT
    assert f"stands for more than {word_reader.MAX_WORDS}" in TEXT
