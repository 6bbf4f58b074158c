"""A session's record holds all of its figures, and parts that are bounded."""

from __future__ import annotations

from typing import Any

from tests.core.usage.calls import DAY_US, call, ledger
from watchgate.core.model.usage_records import CountedData
from watchgate.core.usage.usage_calls import PICO_PER_NANO
from watchgate.core.usage.usage_summary import (
    MAX_FIGURE,
    MAX_MODELS,
    MAX_ROWS,
    MAX_SUBS,
    MAX_TOOLS,
    MAX_TURNS,
    OTHER_MODELS,
    OTHER_SUBS,
    summarize_session,
)

KEY = ("claude", "s")
NOW_S = 40 * 86_400
NANO_OF_ONE = (10 * 100 + 2 * 500) // PICO_PER_NANO


def told(*calls: Any) -> CountedData:
    """What a record says of these calls, at a moment."""
    counted = ledger()
    counted.put("file", "claude", calls)
    return summarize_session(
        counted.rows(KEY),
        counted.calls(KEY),
        first_day=10,
        last_day=NOW_S // 86_400,
        now_us=NOW_S * 1_000_000,
    )


def test_a_turn_has_the_calls_that_were_made_in_it() -> None:
    found = told(call("a", turn="t1", at=5), call("b", turn="t1", at=6), call("c", turn="t2", at=7))
    first, second = found.turns
    assert (first.id, first.calls, first.tokens, first.at) == ("t1", 2, 24, 5_000_000)
    assert first.cost == 2 * NANO_OF_ONE
    assert (second.id, second.calls) == ("t2", 1)


def test_a_turn_with_a_call_that_has_no_price_is_a_lower_bound() -> None:
    (turn,) = told(call("a", turn="t1"), call("b", turn="t1", model="nova")).turns
    assert (turn.cost, turn.is_lower_bound) == (NANO_OF_ONE, True)


def test_tool_calls_of_the_last_hour_say_how_many_share_a_call() -> None:
    found = told(
        call("a", tools=("x", "y"), at=NOW_S - 60), call("b", tools=("old",), at=NOW_S - 4_000)
    )
    assert {(each.id, each.shared, each.cost) for each in found.tools} == {
        ("x", 2, NANO_OF_ONE),
        ("y", 2, NANO_OF_ONE),
    }


def test_minutes_are_those_of_the_last_hour() -> None:
    found = told(
        *(call(f"a{n}", at=NOW_S - 120 - n) for n in range(3)), call("old", at=NOW_S - 4_000)
    )
    assert sum(each.tokens for each in found.minutes) == 3 * 12
    assert sum(each.cost or 0 for each in found.minutes) == 3 * NANO_OF_ONE


def test_everything_is_bounded_and_the_sums_stay_whole() -> None:
    many = 2 * max(MAX_TURNS, MAX_TOOLS, MAX_SUBS)
    calls = [
        call(f"c{n}", turn=f"t{n}", tools=(f"tool{n}",), sub=f"sub{n}", at=NOW_S - n)
        for n in range(many)
    ]
    found = told(*calls)
    assert len(found.turns) == MAX_TURNS
    assert found.turns[-1].id == "t0"
    assert len(found.tools) == MAX_TOOLS
    assert len(found.rows) == MAX_SUBS + 1
    assert OTHER_SUBS in {row.sub for row in found.rows}
    assert sum(row.calls for row in found.rows) == many
    assert sum(row.computed or 0 for row in found.rows) == many * NANO_OF_ONE


def test_days_before_the_first_are_one() -> None:
    found = told(*(call(f"c{n}", at=n * DAY_US // 1_000_000) for n in range(20)))
    assert min(row.day for row in found.rows) == 9
    assert sum(row.calls for row in found.rows) == 20


def test_where_every_cost_was_reported_the_parts_have_those() -> None:
    found = told(call("a", turn="t", reported=7_000, at=NOW_S))
    assert found.source == "reported"
    assert [each.cost for each in found.turns] == [7]
    assert [each.cost for each in found.minutes] == [7]


def test_what_is_dated_in_the_future_was_used_today() -> None:
    far = NOW_S + 400 * 86_400
    found = told(call("now", at=NOW_S), *(call(f"f{n}", at=far + n * 86_400) for n in range(40)))
    assert [(row.day, row.computed) for row in found.rows] == [(40, 41 * NANO_OF_ONE)]


def test_any_number_of_models_leaves_nothing_out() -> None:
    found = told(
        call("z", model="small", input=10_000),
        *(call(f"a{n}", model=f"a{n}", input=n) for n in range(3_000)),
    )
    assert len(found.rows) == MAX_MODELS + 1
    assert sum(row.calls for row in found.rows) == 3_001
    assert {row.model for row in found.rows} >= {"small", OTHER_MODELS}
    assert next(row.unpriced for row in found.rows if row.model == OTHER_MODELS) > 2_900


def test_many_sub_agents_on_many_days_are_told_as_one_before_anything_is_left_out() -> None:
    found = told(
        *(
            call(f"c{day}-{sub}-{model}", at=day * 86_400, sub=sub, model=model)
            for day in range(11, 40)
            for sub in ("", *(f"sub{n}" for n in range(20)))
            for model in ("small", "large")
        )
    )
    assert len(found.rows) == 29 * 2 * 2 < MAX_ROWS
    assert {row.sub for row in found.rows} == {"", OTHER_SUBS}
    assert sum(row.calls for row in found.rows) == 29 * 21 * 2


def test_a_figure_beyond_all_sense_is_told_as_the_most_that_there_is() -> None:
    (row,) = told(call("a"), call("b", input=MAX_FIGURE, output=MAX_FIGURE)).rows
    assert (row.output, row.calls, row.is_lower_bound) == (MAX_FIGURE, 2, True)
    assert row.computed == MAX_FIGURE
