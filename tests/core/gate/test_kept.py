"""An equal call under the same policy is not judged twice, and any other is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from watchgate.core.gate import policy_gate
from watchgate.core.gate.policy_gate import ASSESSMENTS_MAX, AssessmentCache
from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.subject import Subject
from watchgate.core.policy.judging.assess import assess
from watchgate.core.policy.rules.load import load
from watchgate.core.policy.rules.policy import Policy
from watchgate.service.policies.policy_files import shipped, shipped_files


def subject(command: str = "git status", **fields: Any) -> Subject:
    given = {"command": command, **fields.pop("given", {})}
    tool = Tool("Bash", "Bash", "shell", given, "the same hash")
    return Subject(tool=tool, **{"agent": "claude", "session": "s", "cwd": "/w", **fields})


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The commands that were really judged."""
    seen: list[str] = []

    def counting(asked: Subject, policy: Policy, now_us: int) -> Any:
        seen.append(asked.tool.input["command"])
        return assess(asked, policy, now_us)

    monkeypatch.setattr(policy_gate, "assess", counting)
    return seen


def test_an_equal_call_has_the_same_assessment_without_being_judged_again(
    judged: list[str],
) -> None:
    known = AssessmentCache()
    first = known.assess(subject(), shipped(), 1)
    assert known.assess(subject(), shipped(), 2) is first
    assert first == assess(subject(), shipped(), 1)
    assert judged == ["git status"]


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "git status -s"},
        {"given": {"workdir": "/elsewhere"}},
        {"agent": "codex"},
        {"session": "t"},
        {"cwd": "/v"},
        {"links": (("/w/x", "/etc/shadow"),)},
    ],
)
def test_a_call_that_differs_in_anything_is_judged(
    judged: list[str], fields: dict[str, Any]
) -> None:
    known = AssessmentCache()
    known.assess(subject(), shipped(), 1)
    known.assess(subject(**fields), shipped(), 1)
    assert len(judged) == 2


def test_another_policy_judges_anew(judged: list[str]) -> None:
    known, other = AssessmentCache(), msgspec.structs.replace(shipped())
    known.assess(subject(), shipped(), 1)
    known.assess(subject(), other, 1)
    known.assess(subject(), shipped(), 1)
    assert len(judged) == 3


def test_rules_that_end_are_asked_at_every_moment() -> None:
    text = """version = 1
[[rule]]
id = "team.freeze"
decision = "deny"
reason = "No commits before the release"
command = { program = "git", sub = "commit" }
until = 2026-01-01T00:00:00Z
"""
    policy = Policy.of((*shipped_files(), load(text, "policy.toml", "user")))
    end_us = int(datetime(2026, 1, 1, tzinfo=UTC).timestamp() * 1_000_000)
    known = AssessmentCache()
    assert known.assess(subject("git commit"), policy, end_us - 1).decision == "deny"
    assert known.assess(subject("git commit"), policy, end_us).decision == "ask"


def test_no_more_than_so_many_are_kept_and_no_large_ones(judged: list[str]) -> None:
    known = AssessmentCache()
    for number in range(ASSESSMENTS_MAX + 1):
        known.assess(subject(f"echo {number}"), shipped(), 1)
    known.assess(subject("echo 0"), shipped(), 1)
    assert len(judged) == ASSESSMENTS_MAX + 2
    large = subject("echo " + "x" * 3_000)
    known.assess(large, shipped(), 1)
    known.assess(large, shipped(), 1)
    assert len(judged) == ASSESSMENTS_MAX + 4


LONG = "git status " + "a" * policy_gate.MAX_INPUT_BYTES


def test_a_large_call_that_was_judged_ahead_is_not_judged_again(judged: list[str]) -> None:
    known = AssessmentCache()
    known.judge_ahead(subject(LONG), shipped(), 1)
    assert known.assess(subject(LONG), shipped(), 2) == assess(subject(LONG), shipped(), 1)
    assert judged == [LONG]


@pytest.mark.parametrize(
    "changed",
    [{"cwd": "/other"}, {"session": "t"}, {"changed": frozenset(("/w/a",))}, {"own_pids": None}],
    ids=lambda each: next(iter(each)),
)
def test_it_is_judged_anew_where_anything_has_changed_since(
    judged: list[str], changed: dict[str, Any]
) -> None:
    known = AssessmentCache()
    known.judge_ahead(subject(LONG, own_pids=frozenset()), shipped(), 1)
    known.assess(subject(LONG, **{"own_pids": frozenset(), **changed}), shipped(), 2)
    assert judged == [LONG, LONG]


def test_it_is_judged_anew_under_another_policy(judged: list[str]) -> None:
    known = AssessmentCache()
    known.judge_ahead(subject(LONG), shipped(), 1)
    known.assess(subject(LONG), Policy.of(shipped_files()), 2)
    assert judged == [LONG, LONG]
