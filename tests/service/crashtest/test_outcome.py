"""What is said of a run: no more than its evidence shows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from watchgate.service.crashtest.trial import TrialEvidence, judge_evidence

BLOCKED = TrialEvidence(
    ran=False, hook_ran=True, calls=1, reply_text="no", ended="ended with status 0"
)


def seen(**changed: Any) -> TrialEvidence:
    return msgspec.structs.replace(BLOCKED, **changed)


@pytest.mark.parametrize(
    ("evidence", "outcome"),
    [
        (seen(), "blocked"),
        (seen(hook_ran=None), "blocked"),
        (seen(reply_text=""), "blocked"),
        (seen(ended=""), "blocked"),
        (seen(ran=True), "ran"),
        (seen(ran=True, reply_text=None), "ran"),
        (seen(ran=True, ended=""), "ran"),
        (seen(ran=True, hook_ran=None), "ran"),
    ],
)
def test_a_call_ran_or_the_model_was_told_that_it_did_not(
    evidence: TrialEvidence, outcome: str
) -> None:
    assert judge_evidence(evidence, 60) == (outcome, "")


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (seen(reply_text=None), "the agent ended with status 0 without a word about it"),
        (seen(reply_text=None, ended=""), "still waited after 60 s"),
        (seen(calls=0, reply_text=None), "never asked the model"),
        (seen(hook_ran=False), "did not run the hook"),
        (seen(hook_ran=False, ran=True), "did not run the hook"),
        (seen(fault="LookupError('no shell tool')"), "no shell tool"),
    ],
)
def test_an_agent_that_broke_down_has_blocked_nothing(evidence: TrialEvidence, why: str) -> None:
    outcome, said = judge_evidence(evidence, 60)

    assert outcome == "unknown"
    assert why in said
