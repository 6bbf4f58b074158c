"""A session's record holds all of its figures, and parts that are bounded."""

from __future__ import annotations

from typing import Any

from tests.core.ledger.calls import DAY_US, call, ledger
from watchgate.core.ledger.call import PICO_PER_NANO
from watchgate.core.ledger.counted import CountedData
from watchgate.core.ledger.telling import (
    OTHER_SUBS,
    SUBS_TOLD,
    TOOLS_TOLD,
    TURNS_TOLD,
    told_of,
)

KEY = ("claude", "s")
NOW_S = 40 * 86_400
NANO_OF_ONE = (10 * 100 + 2 * 500) // PICO_PER_NANO


def told(*calls: Any) -> CountedData:
    """What a record says of these calls, at a moment."""
    counted = ledger()
    counted.put("file", "claude", calls)
    return told_of(counted.rows(KEY), counted.calls(KEY), first_day=10, now_us=NOW_S * 1_000_000)


def test_a_turn_has_the_calls_that_were_made_in_it() -> None:
    found = told(call("a", turn="t1", at=5), call("b", turn="t1", at=6), call("c", turn="t2", at=7))
    first, second = found.turns
    assert (first.id, first.calls, first.tokens, first.at) == ("t1", 2, 24, 5_000_000)
    assert first.cost == 2 * NANO_OF_ONE
    assert (second.id, second.calls) == ("t2", 1)


def test_a_turn_with_a_call_that_has_no_price_is_a_lower_bound() -> None:
    (turn,) = told(call("a", turn="t1"), call("b", turn="t1", model="nova")).turns
    assert (turn.cost, turn.least) == (NANO_OF_ONE, True)


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
    many = 2 * max(TURNS_TOLD, TOOLS_TOLD, SUBS_TOLD)
    calls = [
        call(f"c{n}", turn=f"t{n}", tools=(f"tool{n}",), sub=f"sub{n}", at=NOW_S - n)
        for n in range(many)
    ]
    found = told(*calls)
    assert len(found.turns) == TURNS_TOLD
    assert found.turns[-1].id == "t0"
    assert len(found.tools) == TOOLS_TOLD
    assert len(found.rows) == SUBS_TOLD + 1
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
