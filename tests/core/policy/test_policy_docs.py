"""docs/policy.md tells every key there is, and what it shows can be used as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import msgspec
import pytest

from watchgate.core.pacing import PAUSE_S, PENDING_MAX, QUEUED_A_MINUTE, RETRIES_DENIED
from watchgate.core.policy.examples import check_examples
from watchgate.core.policy.load import load
from watchgate.core.policy.policy import Policy
from watchgate.core.policy.rule_file import CommandMatch, Defaults, PathMatch, PolicyFile, RuleData
from watchgate.core.retries import REMEMBERED_S
from watchgate.service.facts.watch import LIMIT_S
from watchgate.service.policy.shipped import shipped_files

DOCS = Path(__file__).parents[3] / "docs" / "policy.md"
TEXT = DOCS.read_text(encoding="utf-8")
FILES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("text", FILES)
def test_every_policy_that_is_shown_loads_and_does_what_its_examples_say(text: str) -> None:
    loaded = load(text, "docs/policy.md", "user")
    check_examples(Policy.of((*shipped_files(), loaded)), loaded)


@pytest.mark.parametrize("struct", [CommandMatch, Defaults, PathMatch, PolicyFile, RuleData])
def test_every_key_of_a_policy_file_is_told(struct: type[msgspec.Struct]) -> None:
    for field in msgspec.structs.fields(struct):
        assert re.search(rf"`{field.name}`|\b{field.name} =|\[\[?{field.name}\]", TEXT), field.name


@pytest.mark.parametrize("rule", re.findall(r"explain ([a-z]+\.[a-z-]+) ", TEXT))
def test_every_rule_that_is_named_is_there(rule: str) -> None:
    assert any(each.id == rule for file in shipped_files() for each in file.file.rule)


def test_the_limits_that_are_told_are_those_in_force() -> None:
    assert f"{PENDING_MAX} open requests, or with more than {QUEUED_A_MINUTE} " in TEXT
    assert (PAUSE_S, RETRIES_DENIED) == (60.0, 3)
    assert "paused for a minute, as is one in which an operator denied three such tries" in TEXT
    assert REMEMBERED_S == 300
    assert "comes again within five minutes" in TEXT
    assert f"for {LIMIT_S} s at most" in TEXT
