"""A denied call that comes again in other words within five minutes is one level graver."""

from __future__ import annotations

import pytest

from tests.core.builders import START, pre, shell
from tests.core.world import World
from watchgate.core.base.clock import Instant
from watchgate.core.gate.raised_risk import RETRY, why_raised
from watchgate.core.gate.retries import REMEMBERED_S, RetryDetector
from watchgate.core.model.assessment import NO_RULE, Assessment, Finding, Risk, Segment
from watchgate.core.model.events import Event


def event(command: str, at: Instant = START, session: str = "s1") -> Event:
    return pre(shell(command, command), at=at, session=session)


def judged(command: str, rule: str = NO_RULE, risk: Risk = "medium") -> Assessment:
    segment = Segment(1, (0, len(command)), tuple(command.split()), risk, (rule,))
    return Assessment("ask", risk, (Finding(rule, "why", risk),), segments=(segment,))


def after(denied: str, rule: str = NO_RULE) -> RetryDetector:
    retries = RetryDetector()
    retries.note_denied(event(denied), judged(denied, rule), START)
    return retries


@pytest.mark.parametrize(
    ("before", "raised"),
    [("low", "medium"), ("medium", "high"), ("unknown", "high"), ("high", "critical")],
)
def test_what_is_about_the_same_target_is_raised_one_level(before: Risk, raised: Risk) -> None:
    retries = after("rm -r ./cache")
    found = retries.raised(event("shred ./cache"), judged("shred ./cache", risk=before))
    assert found.risk == raised
    assert found.worst.rule == RETRY
    assert "One level higher: denied 0 s ago as rm -r ./cache" in why_raised(found)


def test_what_meets_the_same_rule_is_raised_whatever_it_is_about() -> None:
    retries = after("rm -r ./cache", "files.delete-recursive")
    found = retries.raised(event("rm -r ./logs"), judged("rm -r ./logs", "files.delete-recursive"))
    assert found.risk == "high"


def test_no_grant_answers_what_was_raised() -> None:
    found = after("rm ./a").raised(event("mv ./a ./b"), judged("mv ./a ./b"))
    assert found.worst.always_ask


def test_another_target_under_no_rule_is_as_it_was() -> None:
    found = judged("make docs")
    assert after("rm -r ./cache").raised(event("make docs"), found) is found


def test_the_verb_of_a_tool_is_no_target() -> None:
    found = judged("git push fork topic")
    assert after("git push origin main").raised(event("git push fork topic"), found) is found


def test_what_an_allow_rule_covers_is_never_raised() -> None:
    found = Assessment("allow", "low", (Finding("read", "reads", "low", decision="allow"),))
    assert after("rm ./a").raised(event("cat ./a"), found) is found


def test_another_session_is_judged_for_itself() -> None:
    found = judged("shred ./cache")
    assert after("rm ./cache").raised(event("shred ./cache", session="s2"), found) is found


def test_after_five_minutes_it_is_forgotten() -> None:
    retries, late = after("rm ./cache"), START.plus(REMEMBERED_S)
    assert retries.raised(event("shred ./cache", late), judged("shred ./cache")).risk == "high"
    later = late.plus(1)
    assert retries.raised(event("shred ./cache", later), judged("shred ./cache")).risk == "medium"


def test_an_operator_sees_why_a_request_is_raised() -> None:
    world = World("strict", retries=True)
    world.decide(world.ask(pre(shell("medium ./a", "c1")), 1), "deny")
    again = world.ask(pre(shell("medium -f ./a", "c2")), 2)
    assert again.data.risk == "high"
    assert again.data.raised.startswith("One level higher: denied 0 s ago as medium ./a")


def test_an_allowed_call_raises_nothing() -> None:
    world = World("strict", retries=True)
    world.allow(world.ask(pre(shell("medium ./a", "c1")), 1))
    assert world.ask(pre(shell("medium -f ./a", "c2")), 2).data.risk == "medium"


def test_what_a_rule_denied_raises_what_comes_after_it() -> None:
    world = World("strict", retries=True)
    world.send(pre(shell("deny ./a", "c1")), 1)
    assert world.ask(pre(shell("medium ./a", "c2")), 2).data.risk == "high"


def test_what_was_asked_before_the_denial_is_no_retry_of_it() -> None:
    """Its handlers may be heard long after it came."""
    retries = RetryDetector()
    retries.note_denied(event("rm ./a"), judged("rm ./a"), START.plus(2))
    found = judged("mv ./a ./b")
    assert retries.raised(event("mv ./a ./b"), found) is found
    assert retries.raised(event("mv ./a ./b", START.plus(3)), found).risk == "high"
