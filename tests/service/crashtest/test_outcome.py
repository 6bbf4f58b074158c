"""What is said of a run: no more than its evidence shows."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from watchgate.service.crashtest.outcome import Seen, judged

BLOCKED = Seen(ran=False, hook_ran=True, calls=1, reply_text="no", ended="ended with status 0")


def seen(**changed: Any) -> Seen:
    return msgspec.structs.replace(BLOCKED, **changed)


@pytest.mark.parametrize(
    ("evidence", "outcome"),
    [
        (seen(), "blocked"),
        (seen(hook_ran=None), "blocked"),
        (seen(told=""), "blocked"),
        (seen(ended=""), "blocked"),
        (seen(ran=True), "ran"),
        (seen(ran=True, told=None), "ran"),
        (seen(ran=True, ended=""), "ran"),
        (seen(ran=True, hook_ran=None), "ran"),
    ],
)
def test_a_call_ran_or_the_model_was_told_that_it_did_not(evidence: Seen, outcome: str) -> None:
    assert judged(evidence, 60) == (outcome, "")


@pytest.mark.parametrize(
    ("evidence", "why"),
    [
        (seen(told=None), "the agent ended with status 0 without a word about it"),
        (seen(told=None, ended=""), "still waited after 60 s"),
        (seen(calls=0, told=None), "never asked the model"),
        (seen(hook_ran=False), "did not run the hook"),
        (seen(hook_ran=False, ran=True), "did not run the hook"),
        (seen(fault="LookupError('no shell tool')"), "no shell tool"),
    ],
)
def test_an_agent_that_broke_down_has_blocked_nothing(evidence: Seen, why: str) -> None:
    outcome, said = judged(evidence, 60)

    assert outcome == "unknown"
    assert why in said
