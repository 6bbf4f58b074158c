"""The decision table: policy by profile, exactly as documented."""

from __future__ import annotations

from typing import get_args

import pytest

from watchgate.core.model.assessment import NO_RULE, Assessment, Finding, Risk, judge
from watchgate.core.policy.rules.profiles import GateAction, Profile, gate_action, table

DENY = Assessment("deny", "low", (Finding("a.b", "No", "low"),))
UNKNOWN = judge([Finding(NO_RULE, "Who knows", "unknown")])
OPAQUE = judge([Finding("x.y", "Dark", "medium")], opaque=True)
NO_RULE_MEDIUM = judge([Finding(NO_RULE, "Parsed", "medium")])
ALLOW = judge([Finding("a.b", "Reads", "low")], allow=True)


def rated(risk: Risk) -> Assessment:
    return judge([Finding("a.b", "Why", risk)])


@pytest.mark.parametrize(
    ("found", "attended", "autonomous", "strict"),
    [
        (DENY, "deny", "deny", "deny"),
        (rated("critical"), "hold", "hold", "hold"),
        (rated("high"), "hold", "hold", "hold"),
        (UNKNOWN, "handback", "hold", "hold"),
        (OPAQUE, "handback", "hold", "hold"),
        (NO_RULE_MEDIUM, "handback", "hold", "hold"),
        (rated("medium"), "handback", "handback", "hold"),
        (rated("low"), "handback", "handback", "hold"),
        (ALLOW, "handback", "handback", "handback"),
    ],
)
def test_each_profile_does_with_a_word_of_the_policy_what_the_table_says(
    found: Assessment, attended: GateAction, autonomous: GateAction, strict: GateAction
) -> None:
    assert gate_action("guard", found, autonomous=False) == attended
    assert gate_action("guard", found, autonomous=True) == autonomous
    for alone in (False, True):
        assert gate_action("strict", found, autonomous=alone) == strict
        assert gate_action("watch", found, autonomous=alone) == "record"


@pytest.mark.parametrize(
    ("found", "action"),
    [
        (UNKNOWN, "hold"),
        (OPAQUE, "hold"),
        (NO_RULE_MEDIUM, "handback"),
        (rated("medium"), "handback"),
        (rated("low"), "handback"),
        (ALLOW, "handback"),
    ],
)
def test_what_may_run_unasked_is_held_where_it_cannot_be_read(
    found: Assessment, action: GateAction
) -> None:
    """An agent that does not tell its mode may have nobody in front of it."""
    assert gate_action("guard", found, autonomous=False, runs_unasked=True) == action


@pytest.mark.parametrize("profile", get_args(Profile))
def test_every_profile_prints_its_rows(profile: Profile) -> None:
    rows = table(profile)
    assert [title for title, _ in rows] == [
        "deny rule",
        "high, critical",
        "ask, unknown",
        "ask, no rule",
        "ask, lasting",
        "ask, medium or low",
        "ask, ordinary work",
        "allow rule",
    ]


@pytest.mark.parametrize("profile", get_args(Profile))
@pytest.mark.parametrize("autonomous", [False, True])
def test_only_an_allow_rule_is_told_as_one_and_only_where_that_is_configured(
    profile: Profile, autonomous: bool
) -> None:
    def action(found: Assessment) -> GateAction:
        return gate_action(profile, found, autonomous=autonomous, auto_allow=True)

    assert action(ALLOW) == ("record" if profile == "watch" else "allow")
    assert gate_action(profile, ALLOW, autonomous=autonomous) != "allow"
    for found in (DENY, UNKNOWN, OPAQUE, NO_RULE_MEDIUM, rated("low"), rated("critical")):
        assert action(found) != "allow"
    assert dict(table(profile, auto_allow=True))["allow rule"] == (
        "record" if profile == "watch" else "allow-if-configured"
    )


def test_the_gravest_finding_decides_and_the_first_of_equals_speaks() -> None:
    found = judge(
        [
            Finding("a", "A", "medium"),
            Finding("b", "B", "high"),
            Finding("c", "C", "high"),
            Finding("d", "D", "unknown"),
        ]
    )
    assert (found.rule, found.reason, found.risk) == ("b", "B", "high")


def test_unknown_is_worse_than_medium() -> None:
    assert judge([Finding("a", "A", "medium"), Finding("b", "B", "unknown")]).risk == "unknown"


@pytest.mark.parametrize("risk", ["medium", "high", "critical", "unknown"])
def test_an_allow_stands_on_low_findings_only(risk: Risk) -> None:
    low = Finding("a", "A", "low")
    assert judge([low], allow=True).decision == "allow"
    assert judge([low], allow=True, opaque=True).decision == "ask"
    assert judge([low, Finding("b", "B", risk)], allow=True).decision == "ask"
