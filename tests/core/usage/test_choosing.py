"""Whose cost is shown, and how it is written down: one source, never a sum of two."""

from __future__ import annotations

import pytest

from tests.core.usage.calls import call, ledger
from watchgate.core.usage.cost_choice import cost_is_lower_bound, cost_of, source_of
from watchgate.core.usage.usage_calls import Figures
from watchgate.core.usage.usage_summary import counted_rows, nano, total_figures


@pytest.mark.parametrize(
    ("unreported", "unpriced", "source", "cost", "least"),
    [
        (0, 0, "reported", 7, False),
        (0, 2, "reported", 7, False),
        (1, 0, "computed", 9, False),
        (1, 1, "computed", 9, True),
        (1, 2, "reported", 7, True),
        (2, 2, "unknown", None, False),
    ],
)
def test_the_source_of_two_calls(
    unreported: int, unpriced: int, source: str, cost: int | None, least: bool
) -> None:
    found = Figures(calls=2, reported=7, computed=9, unreported=unreported, unpriced=unpriced)
    assert source_of(found) == source
    assert cost_of(found, source_of(found)) == cost
    assert cost_is_lower_bound(found, source_of(found)) is least


def test_no_calls_have_no_source() -> None:
    assert source_of(Figures()) == "unknown"


def test_a_call_that_may_have_used_more_makes_a_lower_bound() -> None:
    assert cost_is_lower_bound(Figures(calls=2, lower_bounds=1), "reported")


def test_figures_are_added_and_taken_away_exactly() -> None:
    one, two = Figures(calls=1, input=3, computed=10**15), Figures(calls=2, output=4, computed=1)
    assert one.plus(two) == Figures(calls=3, input=3, output=4, computed=10**15 + 1)
    assert one.plus(two).minus(two) == one


def test_rows_of_a_record_are_in_nano_dollars_rounded_once() -> None:
    book = ledger()
    book.put("f", "claude", [call("a"), call("b", reported=1499), call("c", model="nova")])
    first, second = counted_rows(book.rows(("claude", "s")))
    assert (second.model, second.computed, second.reported) == ("small", 4, 1)
    assert (second.calls, second.unreported, second.unpriced) == (2, 1, 0)
    assert (first.model, first.computed, first.reported, first.unpriced) == ("nova", None, None, 1)
    assert total_figures(book.rows()).calls == 3


def test_half_a_nano_dollar_is_rounded_up() -> None:
    assert [nano(499), nano(500), nano(1499), nano(None)] == [0, 1, 1, None]
