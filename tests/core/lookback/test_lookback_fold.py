"""What asked-for calls add up to."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tests.core.lookback.asking import DAY_US, NOW_US, asked
from watchgate.core.lookback.lookback_fold import Lookback
from watchgate.core.lookback.lookback_report import LookbackReport, ProfileTally
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.lookback.transcript_judge import TranscriptJudge
from watchgate.service.policies.policy_files import shipped

SINCE_US = NOW_US - 30 * DAY_US
PUSH = "git push --force origin main"
WIPE = "rm -rf /"


def judge() -> TranscriptJudge:
    return TranscriptJudge(shipped(), home="/home/u", own=(), now_us=NOW_US)


def report(*calls: TranscriptCall, since_us: int = SINCE_US) -> LookbackReport:
    fold = Lookback(judge(), since_us=since_us, now_us=NOW_US, day_of=lambda at: at // DAY_US)
    fold.take(calls)
    return fold.report()


def test_calls_are_counted_by_risk_session_day_and_agent() -> None:
    found = report(
        asked("ls"),
        asked("ls", session="s2", at_us=NOW_US - DAY_US, side=True),
        asked(WIPE, agent="codex", alone=True),
        asked(name="Read", args={"file_path": "/srv/app/x"}),
    )
    assert (found.calls, found.commands, found.sessions, found.days) == (4, 3, 3, 2)
    assert (found.by_subs, found.alone, found.distinct) == (1, 1, 3)
    assert found.risks == {"critical": 1, "high": 0, "unknown": 0, "medium": 0, "low": 3}
    assert [(each.agent, each.calls, each.sessions) for each in found.agents] == [
        ("claude", 3, 2),
        ("codex", 1, 1),
    ]


def test_held_calls_are_counted_for_each_profile_and_hour() -> None:
    hour_us = 3_600_000_000
    calls = [asked("frob"), asked(PUSH), asked("ls"), asked("frob", at_us=NOW_US - 3 * hour_us)]
    rates = report(*calls).rates
    assert (rates.hours, rates.guard, rates.guard_alone, rates.strict) == (2, 1, 3, 3)
    assert rates.an_hour(rates.guard_alone) == 1.5
    assert report().rates.an_hour(0) == 0.0


def test_a_copy_in_a_resumed_session_is_no_second_call() -> None:
    one = asked(PUSH, call_id="toolu_01A2b3C4d5E6f7G8h9")
    copy = asked(PUSH, call_id="toolu_01A2b3C4d5E6f7G8h9", session="fork", at_us=NOW_US + 9)
    for order in ((one, copy), (copy, one)):
        found = report(*order)
        assert (found.calls, found.sessions, found.guard.held) == (1, 1, 1)


def test_a_call_of_before_does_not_count_even_if_a_fork_tells_it_anew() -> None:
    old = asked(PUSH, call_id="toolu_01A2b3C4d5E6f7G8h9", at_us=SINCE_US - 1)
    anew = asked(PUSH, call_id="toolu_01A2b3C4d5E6f7G8h9", at_us=NOW_US)
    assert report(old, anew).calls == report(anew, old).calls == 0


def test_a_call_without_a_time_is_told_apart() -> None:
    undated = asked(PUSH, at_us=0)
    assert (report(undated, undated).undated, report(undated).calls) == (1, 0)
    assert report(undated, since_us=0).calls == 1


def test_what_is_put_to_a_person_anyway_is_not_judged() -> None:
    found = report(asked(name="AskUserQuestion", args={"questions": []}))
    assert (found.calls, found.questions, found.strict) == (0, 1, ProfileTally())


def test_guard_holds_what_is_grave_and_strict_all_that_no_rule_allows() -> None:
    found = report(asked(WIPE), asked("git push"), asked("ls"))
    assert (found.guard.held, found.guard.grave, found.strict.held) == (1, 1, 2)


def test_where_nobody_is_asked_guard_holds_what_no_rule_knows() -> None:
    assert report(asked("frobnicate")).guard.held == 0
    found = report(asked("frobnicate", alone=True)).guard
    assert (found.held, found.grave) == (1, 0)


def test_the_very_same_again_is_what_a_standing_grant_may_have_answered() -> None:
    calls = [asked("git push", at_us=NOW_US - n) for n in range(4)]
    other = asked("git push", cwd="/srv/lib")
    grave = [asked(WIPE), asked(WIPE)]
    assert report(*calls, other, *grave).strict == ProfileTally(held=7, grave=2, again=4, granted=3)


def test_the_grave_ones_are_listed_once_each_the_gravest_and_newest_first() -> None:
    found = report(
        asked(PUSH, at_us=NOW_US - 9, session="a"),
        asked(PUSH, at_us=NOW_US - 5, cwd="/srv/lib", agent="codex"),
        asked(WIPE, at_us=NOW_US - 7),
        asked("git reset --hard", at_us=NOW_US - 1),
    )
    assert [(each.risk, each.text) for each in found.grave] == [
        ("critical", WIPE),
        ("high", "git reset --hard"),
        ("high", PUSH),
    ]
    push = found.grave[2]
    assert (push.count, push.agent, push.cwd) == (2, "codex", "/srv/lib")
    assert (push.first_us, push.at_us, push.guard) == (NOW_US - 9, NOW_US - 5, "hold")
    assert push.reason
    assert push.rule == "git.force-push"


COMMANDS = st.sampled_from(["ls", PUSH, WIPE, "frobnicate", "npm install x"])
CALLS = st.lists(
    st.builds(
        asked,
        COMMANDS,
        call_id=st.sampled_from(["", "1", "toolu_01A2b3C4d5E6f7G8h9", "call_9f8e7d6c5b4a39281706"]),
        session=st.sampled_from("ab"),
        cwd=st.sampled_from(["/srv/a", "/srv/b"]),
        side=st.booleans(),
        alone=st.booleans(),
        at_us=st.sampled_from([0, SINCE_US - 5, NOW_US - 3, NOW_US]),
    ),
    max_size=12,
)


@given(calls=CALLS, seed=st.integers())
def test_neither_the_order_nor_a_second_reading_changes_anything(
    calls: list[TranscriptCall], seed: int
) -> None:
    mixed = [*calls, *calls]
    random.Random(seed).shuffle(mixed)
    one, other = report(*calls), report(*mixed)
    assert (one.calls, one.risks, one.undated) == (other.calls, other.risks, other.undated)
    assert sum(one.risks.values()) == one.calls == sum(each.calls for each in one.agents)
    assert one.guard.held <= one.strict.held + one.strict.denied
    assert one.strict.granted <= one.strict.again <= one.strict.held
