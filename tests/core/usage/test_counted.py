"""What files add up to is folded whole, and stands beside what agents told, never on top of it."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import COUNTED, Record
from watchgate.core.model.usage_records import (
    CountedData,
    CountedRow,
    KindCosts,
    Limit,
    Minute,
    Part,
)
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import NANO, SessionUsage, Tokens, total
from watchgate.core.usage.usage_by_time import MINUTE_US
from watchgate.core.usage.usage_fold import DAY_US, UsageFold, UsageSnapshot, changed_since

NOW_US = 1_795_176_000_000_000
TODAY = NOW_US // DAY_US
KEY = ("claude", "s1")
SEQ = itertools.count(1)


def row(day: int = TODAY, **fields: Any) -> CountedRow:
    """A row of one call that is priced."""
    known = {"model": "big", "calls": 1, "input": 10, "output": 5, "computed": NANO}
    return CountedRow(day=day, **{"unreported": 1, **known, **fields})


def counted(*rows: CountedRow, session: str = "s1", at: int = NOW_US, **fields: Any) -> Record:
    """A `usage.counted` record."""
    data = CountedData(rows=rows, **{"source": "computed", **fields})
    return record(COUNTED, session=session, at=at, **msgspec.to_builtins(data))


def record(kind: str, *, session: str = "s1", at: int = NOW_US, **data: Any) -> Record:
    """A record that is newer than those before it."""
    return Record(
        v=1, seq=next(SEQ), core="c", at=at, kind=kind, agent="claude", session=session, data=data
    )


def told(usd: float, **data: Any) -> Record:
    """A cost so far, as the agent tells it."""
    return record("usage", native="StatusLine", total_cost_usd=usd, **data)


def folded(*records: Record) -> State:
    """The state after these."""
    state = State()
    for each in records:
        state.apply(each)
    assert state.skipped == 0
    return state


def session(*records: Record) -> SessionUsage:
    """The one session after these."""
    return folded(*records).usage.sessions[KEY]


def test_a_later_record_takes_the_place_of_the_one_before() -> None:
    state = folded(counted(row(computed=3 * NANO)), counted(row(), row(TODAY - 1, model="small")))

    assert state.usage.sessions[KEY].cost == 2 * NANO
    assert {(each.day, each.model, each.cost) for each in state.usage.spent} == {
        (TODAY, "big", NANO),
        (TODAY - 1, "small", NANO),
    }


def test_it_makes_no_session_known() -> None:
    assert not folded(counted(row())).sessions


def test_a_cost_that_was_told_from_the_start_is_the_sessions() -> None:
    seen = session(record("session.start", native="n"), told(4.0), counted(row()))

    assert (seen.cost, seen.source, seen.is_lower_bound) == (4 * NANO, "reported", False)
    assert (seen.reported_cost, seen.computed_cost) == (4 * NANO, NANO)
    assert seen.tokens == Tokens(input=10, output=5)
    assert total(seen.spent) == (4 * NANO, Tokens(input=10, output=5))


def test_a_cost_that_was_told_from_the_middle_gives_way_to_the_files() -> None:
    seen = session(told(4.0), counted(row()))

    assert (seen.cost, seen.source, seen.is_lower_bound) == (NANO, "computed", False)
    assert seen.reported_cost == 4 * NANO
    assert total(seen.spent)[0] == NANO


@pytest.mark.parametrize(("usd", "shown"), [(0.0, NANO), (0.6, NANO), (0.7, 7 * NANO // 10)])
def test_a_cost_that_was_told_gives_way_to_files_that_are_far_ahead(usd: float, shown: int) -> None:
    seen = session(record("session.start", native="n"), told(usd), counted(row()))

    assert seen.cost == shown
    assert seen.source == ("computed" if shown == NANO else "reported")
    assert seen.computed_cost == NANO
    assert total(seen.spent)[0] == shown


def test_nothing_told_for_calls_without_a_price_is_no_cost() -> None:
    unpriced = row(computed=None, unpriced=1)
    start = record("session.start", native="n")
    seen = session(start, told(0.0), counted(unpriced, source="unknown"))

    assert (seen.cost, seen.source, seen.unpriced) == (None, "unknown", ("big",))


def test_sessions_that_were_used_today_are_not_let_go_for_older_ones_that_were_read_later() -> None:
    fold = UsageFold(max_sessions=4)
    for number, day in enumerate((TODAY, TODAY - 3, TODAY - 2, TODAY - 1, TODAY - 4)):
        one = counted(row(day), session=f"s{number}", at=NOW_US + number)
        fold.counted(one, msgspec.convert(one.data, CountedData))

    assert [name for _, name in fold.sessions] == ["s0", "s2", "s3", "s4"]


def test_where_files_have_no_price_it_is_a_lower_bound() -> None:
    unpriced = row(computed=None, unpriced=1)
    seen = session(told(4.0), counted(unpriced, source="unknown"))

    assert (seen.cost, seen.source, seen.is_lower_bound) == (4 * NANO, "reported", True)
    assert not seen.unpriced


def test_without_any_price_the_cost_is_unknown_and_not_zero() -> None:
    seen = session(counted(row(computed=None, unpriced=1), source="unknown"))

    assert (seen.cost, seen.source, seen.unpriced) == (None, "unknown", ("big",))
    assert [(each.cost, each.source, each.unpriced) for each in seen.spent] == [
        (None, "unknown", 1)
    ]


def test_what_lacks_a_price_makes_the_rest_a_lower_bound() -> None:
    seen = session(counted(row(), row(model="nova", computed=None, unpriced=2)))

    assert (seen.cost, seen.is_lower_bound, seen.unpriced) == (NANO, True, ("nova",))


def test_costs_of_every_call_that_files_report_are_the_sessions() -> None:
    seen = session(counted(row(reported=7 * NANO, unreported=0), source="reported"))

    assert (seen.cost, seen.source, seen.is_lower_bound, seen.computed_cost) == (
        7 * NANO,
        "reported",
        False,
        NANO,
    )


def test_sub_agents_have_a_sum_of_their_own_within_it() -> None:
    seen = session(counted(row(), row(sub="a1", computed=2 * NANO), row(sub="a1", model="small")))

    assert seen.cost == 4 * NANO
    assert [(each.sub, each.cost, each.calls) for each in seen.subs] == [("a1", 3 * NANO, 2)]


def test_turns_and_tool_calls_are_kept_and_the_changed_ones_replaced() -> None:
    parts = [Part(id=f"t{number}", at=number, tokens=1) for number in range(60)]
    again = Part(id="t59", at=59, tokens=8)
    state = folded(
        counted(row(), turns=tuple(parts), tools=(Part(id="call", at=1, cost=5, shared=2),)),
        counted(row(), turns=(again,)),
    )

    turns = state.usage.sessions[KEY].turns
    assert (len(turns), turns[0].id, turns[-1]) == (50, "t10", again)
    assert state.usage.tool_cost(*KEY, "call") == Part(id="call", at=1, cost=5, shared=2)
    assert state.usage.tool_cost(*KEY, "other") is None


def test_days_are_the_local_ones_of_the_core() -> None:
    midnight = TODAY * DAY_US
    state = folded(
        record("policy.started", what="core started", utc_offset_s=-3_600),
        told(1.0, at=midnight),
        told(3.0, at=midnight + 3_600_000_000),
    )

    assert state.usage.day_of(midnight) == TODAY - 1
    assert {each.day: each.cost for each in state.usage.spent} == {
        TODAY - 1: NANO,
        TODAY: 2 * NANO,
    }


def test_the_last_hour_is_by_minutes_that_replace_each_other() -> None:
    minute = NOW_US // MINUTE_US
    first = Minute(at=minute - 5, cost=NANO, tokens=600)
    state = folded(
        counted(row(), minutes=(Minute(at=minute - 50, cost=NANO, tokens=50), first)),
        counted(row(), minutes=(msgspec.structs.replace(first, cost=2 * NANO),)),
        told(9.0),
        told(9.5),
    )

    assert state.usage.last_hour(NOW_US) == 3 * NANO
    burn = state.usage.burn(NOW_US)
    assert (burn.usd_nano_per_hour, burn.tokens_per_min) == (12 * NANO, 60)
    assert state.usage.burn(NOW_US + DAY_US).usd_nano_per_hour == 0


def test_limits_prices_and_what_is_unreadable_are_the_newest() -> None:
    week, day = Limit(name="week", used_percent=40.0), Limit(name="week", used_percent=41.0)
    state = folded(
        counted(row(), limits=(week,), prices="old", unreadable=4, context_used=7, context_size=9),
        counted(row(), limits=(day,), prices="new", unreadable=1),
        counted(row(), session="s2", unreadable=2),
    )

    assert state.usage.limits["claude"].limits == (day,)
    assert (state.usage.prices, state.usage.unreadable) == ("new", 3)
    seen = state.usage.sessions[KEY]
    assert (seen.context_used, seen.context_size) == (7, 9)


def test_what_is_no_count_is_passed_over() -> None:
    state = folded(counted(row(), row(input=-5), row(day=1 << 60)))

    assert state.usage.sessions[KEY].cost == NANO


@pytest.mark.parametrize("data", [{"rows": 7}, {"rows": [{"day": "x"}]}, {"turns": [[]]}])
def test_a_record_that_cannot_be_read_changes_nothing(data: dict[str, Any]) -> None:
    state = State()
    state.apply(record(COUNTED, **data))

    assert (state.skipped, state.usage.sessions) == (1, {})


def data_of(record: Record) -> CountedData:
    """The data of a record."""
    return msgspec.convert(record.data, CountedData)


def test_only_what_the_state_does_not_know_is_news() -> None:
    parts = (Part(id="a", at=1), Part(id="b", at=2))
    whole = counted(row(), turns=parts, kinds=KindCosts(input=1), minutes=(Minute(at=1),))
    state = folded(whole)

    assert changed_since(state.usage, KEY, data_of(whole)) is None
    more = data_of(counted(row(input=11), turns=(parts[0], Part(id="b", at=2, tokens=3))))
    told_next = changed_since(state.usage, KEY, more)
    assert told_next is not None
    assert [each.id for each in told_next.turns] == ["b"]
    assert told_next.rows == more.rows
    assert changed_since(state.usage, ("claude", "other"), CountedData()) is None
    assert changed_since(state.usage, KEY, CountedData()) is not None


RECORDS = st.lists(
    st.one_of(
        st.builds(
            lambda name, days, nano, unpriced: counted(
                *(
                    row(TODAY - day, computed=None if unpriced else nano, unpriced=int(unpriced))
                    for day in days
                ),
                session=name,
                minutes=(Minute(at=NOW_US // MINUTE_US, cost=nano),),
            ),
            st.sampled_from(["s1", "s2", "s3"]),
            st.sets(st.integers(0, 5), max_size=3),
            st.integers(0, 5 * NANO),
            st.booleans(),
        ),
        st.builds(
            lambda name, cents, tokens: record(
                "usage", session=name, native="n", total_cost_usd=cents / 100, input=tokens
            ),
            st.sampled_from(["s1", "s2", "s3"]),
            st.integers(0, 500),
            st.integers(0, 99),
        ),
        st.builds(
            lambda name: record("session.start", session=name, native="n"),
            st.sampled_from(["s1", "s2"]),
        ),
    ),
    max_size=25,
)


@given(RECORDS)
def test_the_days_are_the_sum_of_the_sessions_figures(records: list[Record]) -> None:
    fold = folded(*numbered(records)).usage

    whole = total(part for each in fold.sessions.values() for part in each.spent)
    assert total(fold.spent) == whole
    costs = [each.cost for each in fold.sessions.values() if each.cost is not None]
    assert (total(fold.spent)[0] or 0) == sum(costs)


@given(RECORDS)
def test_letting_sessions_go_loses_nothing_of_the_days(records: list[Record]) -> None:
    small, large = UsageFold(max_sessions=2), UsageFold()
    seen: set[str] = set()
    for each in records:
        if each.kind == COUNTED and each.session not in seen:
            seen.add(each.session or "")
            for fold in (small, large):
                fold.counted(each, data_of(each))

    assert len(small.sessions) <= 2
    assert total(small.spent) == total(large.spent)


@given(RECORDS, st.integers(0, 25))
def test_a_fold_that_was_restored_goes_on_like_the_whole(records: list[Record], cut: int) -> None:
    records = numbered(records)
    whole, first = folded(*records), folded(*records[:cut])
    sent = msgspec.json.decode(msgspec.json.encode(first.usage.snapshot()), type=UsageSnapshot)
    second = restore(
        seq=first.seq, core=first.core, at=first.at, gate=first.gate,
        sessions=first.sessions.values(), usage=sent,
    )  # fmt: skip
    for each in records[cut:]:
        second.apply(each)

    assert second.usage.snapshot() == whole.usage.snapshot()
    assert second.usage.sessions == whole.usage.sessions
    assert second.usage.last_hour(NOW_US) == whole.usage.last_hour(NOW_US)


def numbered(records: list[Record]) -> list[Record]:
    """The same records in the order of the list."""
    return [
        msgspec.structs.replace(each, seq=number) for number, each in enumerate(records, start=1)
    ]


def usage(session: str = "s1", **data: Any) -> Record:
    """A `usage` record of any figures."""
    return record("usage", session=session, **{"native": "n", **data})


def test_reasoning_is_a_part_of_the_output_and_of_no_sum() -> None:
    seen = session(usage(output=9, reasoning=4), usage(output=3, reasoning=5))

    assert (seen.reasoning, seen.tokens and seen.tokens.all) == (7, 12)


def test_tokens_that_nobody_splits_count_until_somebody_does() -> None:
    total_alone = [usage(total=900, native="a"), usage(total=900, native="b"), usage(total=950)]
    seen = session(*total_alone)
    assert (seen.cost, seen.tokens and seen.tokens.all) == (None, 950)

    seen = session(*total_alone, usage(input=20, output=5), usage(total=980))
    assert seen.tokens == Tokens(input=20, output=5)
    assert total(seen.spent) == (None, Tokens(input=20, output=5))


def test_limits_alone_make_no_session_and_keep_the_windows_that_they_do_not_name() -> None:
    week, hours = ({"name": name, "used_percent": 40.0} for name in ("seven_day", "five_hour"))
    state = folded(usage(limits=[week, hours]), usage(limits=[{**hours, "used_percent": 55.0}]))

    told_last = {each.name: each.used_percent for each in state.usage.limits["claude"].limits}
    assert told_last == {"seven_day": 40.0, "five_hour": 55.0}
    assert not state.usage.sessions
