"""Usage adds up: nothing told twice counts twice, and what nobody told stays unknown."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.core.usage.session_fold import MAX_METERS
from watchgate.core.usage.session_usage import MAX_DAYS, NANO, OTHERS, Tokens, nano, total
from watchgate.core.usage.usage_by_time import MINUTE_US
from watchgate.core.usage.usage_fold import DAY_US, UsageFold, UsageSnapshot

NOON_US = 1_795_176_000_000_000
TODAY = NOON_US // DAY_US
SEQ = itertools.count(1)


def report(
    *,
    session: str = "s1",
    agent: str = "claude",
    at: int = NOON_US,
    sub: str | None = None,
    **data: Any,
) -> Record:
    """A `usage` record."""
    return record(
        "usage", session=session, agent=agent, at=at, sub=sub, native="StatusLine", **data
    )


def record(
    kind: str, *, session: str = "s1", agent: str = "claude", at: int = NOON_US,
    sub: str | None = None, native: str = "n", **data: Any,
) -> Record:  # fmt: skip
    """A record that is newer than those before it."""
    return Record(
        v=1, seq=next(SEQ), core="c", at=at, kind=kind, agent=agent, session=session, sub=sub,
        data={"native": native, **data},
    )  # fmt: skip


def folded(*records: Record) -> State:
    """The state after these."""
    state = State()
    for each in records:
        state.apply(each)
    assert state.skipped == 0
    return state


def cost(state: State, session: str = "s1", agent: str = "claude") -> int | None:
    """What a session cost, in cents."""
    known = state.usage.sessions[agent, session].cost
    return None if known is None else round(known * 100 / NANO)


def used(state: State) -> Tokens | None:
    """The tokens of the one session."""
    (only,) = state.usage.sessions.values()
    return only.tokens


def test_a_cost_so_far_is_not_added_to_itself() -> None:
    state = folded(*(report(total_cost_usd=usd) for usd in (0.5, 0.75, 0.75, 1.25)))

    assert cost(state) == 125
    assert total(state.usage.spent)[0] == 125 * NANO // 100


def test_a_late_report_changes_nothing() -> None:
    state = folded(*(report(total_cost_usd=usd) for usd in (1.0, 0.5, 1.0, 0.25, 1.0)))

    assert cost(state) == 100


def test_a_lower_cost_after_a_new_start_of_the_session_is_a_new_count() -> None:
    state = folded(report(total_cost_usd=1.0), record("session.start"), report(total_cost_usd=0.25))

    assert cost(state) == 125


def test_a_resumed_session_that_keeps_its_cost_goes_on() -> None:
    state = folded(report(total_cost_usd=1.0), record("session.start"), report(total_cost_usd=1.25))

    assert cost(state) == 125


def test_the_start_of_a_sub_agent_begins_no_new_count() -> None:
    state = folded(
        report(total_cost_usd=1.0), record("session.start", sub="a"), report(total_cost_usd=0.25)
    )

    assert cost(state) == 100


def test_money_is_exact() -> None:
    state = folded(*(report(session=str(n), total_cost_usd=0.1) for n in range(10)))

    assert total(state.usage.spent)[0] == NANO


@pytest.mark.parametrize("usd", [float("nan"), float("inf"), -1.0, True, "1", None, 1e300, 10**400])
def test_what_is_no_money_is_not_known(usd: object) -> None:
    assert nano(usd) is None


def test_tokens_of_each_call_add_up() -> None:
    state = folded(report(input=5, output=1), report(input=7, cache_read=2))

    assert used(state) == Tokens(input=12, output=1, cache_read=2)


def test_tokens_of_the_session_so_far_do_not() -> None:
    state = folded(*(report(input=each, counts="total") for each in (5, 12, 12)))

    assert used(state) == Tokens(input=12)


def test_the_newest_call_told_again_is_one_call() -> None:
    first: dict[str, Any] = {"input": 3, "cache_read": 9, "counts": "newest"}
    state = folded(
        report(output=1, **first),
        report(output=4, **first),
        report(input=2, output=1, counts="newest"),
    )

    assert used(state) == Tokens(input=5, output=5, cache_read=9)
    assert state.usage.sessions["claude", "s1"].partial


def test_what_comes_with_the_same_name_is_the_same_again() -> None:
    state = folded(
        report(ref="m1", input=5, output=1),
        report(ref="m1", input=5, output=3),
        report(ref="m2", input=1),
    )

    assert used(state) == Tokens(input=6, output=3)


def test_input_that_includes_the_cache_is_told_apart() -> None:
    state = folded(report(input=100, cache_read=80, cache_write=5, cached_within=True))

    assert used(state) == Tokens(input=15, cache_read=80, cache_write=5)


def test_two_lanes_that_tell_the_same_count_once() -> None:
    told: dict[str, Any] = {
        "agent": "codex",
        "input": 9,
        "output": 2,
        "counts": "total",
        "total_cost_usd": 0.5,
    }
    state = folded(
        record("usage", native="thread/tokenUsage/updated", **told),
        record("usage", native="turn.completed/usage", **told),
    )

    assert used(state) == Tokens(input=9, output=2)
    assert cost(state, agent="codex") == 50


def test_sub_agents_count_to_their_session() -> None:
    state = folded(
        report(input=5, counts="total"),
        report(input=3, counts="total", sub="a"),
        report(input=4, counts="total", sub="b"),
    )

    assert used(state) == Tokens(input=12)


def test_what_nobody_told_is_unknown_and_not_zero() -> None:
    state = folded(report(input=5))
    (session,) = state.usage.sessions.values()

    assert session.cost is None
    assert session.context_used is None
    assert session.since(TODAY) == (None, Tokens(input=5))
    assert total(state.usage.spent)[0] is None


def test_the_newest_context_is_kept_and_that_of_a_sub_agent_is_not_the_sessions() -> None:
    state = folded(
        report(context_used=10, context_size=200_000),
        report(context_used=90_000),
        report(context_used=5, sub="a"),
    )
    (session,) = state.usage.sessions.values()

    assert (session.context_used, session.context_size) == (90_000, 200_000)


def test_each_day_has_what_was_used_on_it() -> None:
    state = folded(
        report(total_cost_usd=1.0, at=NOON_US - DAY_US), report(total_cost_usd=1.5, at=NOON_US)
    )

    days = {each.day: each.cost for each in state.usage.spent}
    assert days == {TODAY - 1: NANO, TODAY: NANO // 2}
    assert state.usage.sessions["claude", "s1"].since(TODAY)[0] == NANO // 2


def test_each_model_has_what_it_used() -> None:
    state = folded(
        report(total_cost_usd=1.0, model="big"),
        report(total_cost_usd=1.25, model="small"),
        report(total_cost_usd=1.5),
    )

    assert {each.model: each.cost for each in state.usage.spent} == {
        "big": NANO,
        "small": NANO // 2,
    }
    assert state.usage.sessions["claude", "s1"].models == ("big", "small")


def test_the_model_of_a_session_is_known_from_its_other_records() -> None:
    state = folded(record("session.start", model="big"), report(total_cost_usd=1.0))

    assert [each.model for each in state.usage.spent] == ["big"]


def test_a_day_of_any_record_is_a_day_of_which_something_is_known() -> None:
    state = folded(record("notice", at=NOON_US - 3 * DAY_US), record("notice"))

    assert state.usage.ran == (TODAY - 3, TODAY)


def test_the_last_hour() -> None:
    state = folded(
        report(total_cost_usd=1.0, at=NOON_US - 61 * MINUTE_US),
        report(total_cost_usd=1.5, at=NOON_US - 59 * MINUTE_US),
        report(total_cost_usd=1.75),
    )

    assert state.usage.last_hour(NOON_US) == 3 * NANO // 4
    assert state.usage.last_hour(NOON_US + 59 * MINUTE_US) == NANO // 4


def test_what_a_session_had_cost_before_it_was_heard_of_is_not_of_the_last_hour() -> None:
    state = folded(report(total_cost_usd=50.0), report(total_cost_usd=50.25))
    assert state.usage.last_hour(NOON_US) == NANO // 4

    for how, of_the_hour in (("startup", 50), ("resume", 0)):
        state = folded(record("session.start", detail=how), report(total_cost_usd=50.0))
        assert state.usage.last_hour(NOON_US) == of_the_hour * NANO


def test_a_compaction_begins_no_new_count() -> None:
    state = folded(
        report(total_cost_usd=1.0),
        record("session.start", detail="compact"),
        report(total_cost_usd=0.99),
        report(total_cost_usd=1.01),
    )
    assert cost(state) == 101


def test_the_model_of_a_sub_agent_is_not_the_sessions() -> None:
    state = folded(
        report(model="big", input=1),
        report(model="small", input=1, sub="a"),
        report(model="big", input=1, sub="b"),
    )
    assert state.usage.sessions["claude", "s1"].models == ("small", "big")


def test_no_sub_agent_is_too_many() -> None:
    subs = [None, *(f"sub-{number}" for number in range(3 * MAX_METERS))]
    state = folded(*(report(input=10, sub=sub, ref="r") for sub in subs for _ in range(2)))
    assert used(state) == Tokens(input=10 * len(subs))
    assert len(state.usage.sessions["claude", "s1"].reported.meters) <= MAX_METERS


def test_the_days_of_a_long_session_keep_what_was_used_on_them() -> None:
    reports = [
        report(at=NOON_US + day * DAY_US, model=f"m{model}", input=1)
        for day in range(MAX_DAYS)
        for model in range(6)
    ]
    session = folded(*reports).usage.sessions["claude", "s1"]
    assert session.since(0) == (None, Tokens(input=len(reports)))
    assert session.since(TODAY + MAX_DAYS - 1) == (None, Tokens(input=6))


def test_a_record_changed_from_outside_is_passed_over() -> None:
    odd: dict[str, Any] = {
        "input": "9",
        "output": -1,
        "cache_read": True,
        "counts": [],
        "ref": 3,
        "model": 7,
    }
    state = folded(report(**odd, context_used=1.5), report(input=1 << 70))

    assert used(state) is None


def test_sessions_days_and_models_are_bounded() -> None:
    fold = UsageFold(max_sessions=8)
    for number in range(300):
        at = NOON_US + number * DAY_US
        fold.note_running(at)
        fold.used(report(session=f"s{number}", at=at, total_cost_usd=1.0))
    for number in range(80):
        at = NOON_US + 299 * DAY_US
        fold.used(report(session="s299", at=at, model=f"m{number}", input=1))

    for number in range(40):
        fold.used(report(session="late", at=NOON_US - number * DAY_US, total_cost_usd=number))

    assert len(fold.sessions) <= 8
    assert len({each.day for each in fold.spent}) <= MAX_DAYS
    assert len(fold.ran) <= MAX_DAYS
    assert OTHERS in {each.model for each in fold.spent}
    assert len(fold.spent) < 100


REPORTS = st.lists(
    st.builds(
        lambda session, minutes, cents, tokens, counts, model, ref, start: (
            record("session.start", session=session, at=NOON_US + minutes * MINUTE_US)
            if start
            else report(
                session=session,
                at=NOON_US + minutes * MINUTE_US,
                model=model,
                ref=ref,
                counts=counts,
                input=tokens,
                output=tokens // 3,
                total_cost_usd=cents / 100,
            )
        ),
        st.sampled_from(["s1", "s2"]),
        st.integers(0, 3 * 24 * 60),
        st.integers(0, 500),
        st.integers(0, 10_000),
        st.sampled_from(["each", "total", "newest"]),
        st.sampled_from(["big", "small"]),
        st.sampled_from(["", "a", "b"]),
        st.booleans(),
    ),
    max_size=30,
)


@given(REPORTS)
def test_the_parts_are_the_whole(records: list[Record]) -> None:
    fold = UsageFold()
    for each in records:
        if each.kind == "usage":
            fold.used(each)
        else:
            fold.started((each.agent or "", each.session or ""))

    by_session = [(each.cost, each.tokens) for each in fold.sessions.values()]
    parts = [total(each.spent) for each in fold.sessions.values()]
    assert by_session == parts
    whole = total(part for each in fold.sessions.values() for part in each.spent)
    assert total(fold.spent) == whole


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=20))
def test_no_order_of_reports_so_far_exceeds_the_highest(cents: list[int]) -> None:
    state = folded(
        *(report(total_cost_usd=each / 100, input=each, counts="total") for each in cents)
    )

    assert cost(state) == max(cents)
    assert used(state) == Tokens(input=max(cents))


@given(REPORTS, st.integers(0, 30))
def test_a_fold_that_was_restored_goes_on_like_the_whole(records: list[Record], cut: int) -> None:
    whole, first = State(), State()
    for number, each in enumerate(records):
        fresh = msgspec.structs.replace(each, seq=number + 1)
        whole.apply(fresh)
        if number < cut:
            first.apply(fresh)
    sent = msgspec.json.decode(msgspec.json.encode(first.usage.snapshot()), type=UsageSnapshot)
    second = restore(
        seq=first.seq, core=first.core, at=first.at, gate=first.gate,
        sessions=first.sessions.values(), usage=sent,
    )  # fmt: skip
    for number, each in enumerate(records):
        second.apply(msgspec.structs.replace(each, seq=number + 1))

    assert second.usage.snapshot() == whole.usage.snapshot()
