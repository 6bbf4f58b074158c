"""Sessions without files are counted by what was told of them, and only for as long."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.model.records import Record
from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.ledger_entries import DuplicateRecords
from watchgate.core.usage.pricing import Rates, Tariff
from watchgate.core.usage.reported_calls import ReportedFeed
from watchgate.core.usage.usage_calls import PICO, Figures, UsageCall
from watchgate.core.usage.usage_summary import total_figures

NOW_US = 1_795_176_000_000_000
DAY_US = 86_400_000_000
KEY = ("kimi", "s1")
MILLION = PICO // 1_000_000
TARIFF = Tariff(tiers=((0, Rates(MILLION, 10 * MILLION, 0, 2 * MILLION, 0)),))
SEQ = itertools.count(1)


def told(session: str = "s1", *, kind: str = "usage", at: int = 0, **data: Any) -> Record:
    """A record of a source of one's own."""
    return Record(
        v=1, seq=next(SEQ), core="c", at=NOW_US + at, kind=kind, agent="kimi", session=session,
        sub=data.pop("sub", None), data={"native": "usage", **data},
    )  # fmt: skip


def ledger() -> Ledger:
    """One that prices the model `known` alone."""
    return Ledger(
        lambda call: TARIFF if call.model == "known" else None, lambda at_us: at_us // DAY_US
    )


def figures(*records: Record, key: tuple[str, str] = KEY) -> Figures:
    """What one session adds up to after these."""
    counted = ledger()
    beside = ReportedFeed(counted)
    for each in records:
        beside.take(each)
    beside.settle(())
    return total_figures(counted.rows(key))


def test_what_is_told_of_one_session_is_not_looked_through_for_another() -> None:
    counted = ledger()
    beside = ReportedFeed(counted)
    for number in range(20):
        session = f"s{number}"
        beside.take(told(session, input=5, counts="each"))
        beside.take(told(session, total_cost_usd=0.5))
    beside.settle(())
    index = counted._index("kimi", "")
    assert len(index) == 20
    assert not any(isinstance(each, DuplicateRecords) for each in index.values())


def test_a_call_that_is_told_again_by_its_name_is_one() -> None:
    found = figures(
        told(ref="a", input=5, output=1, model="known"),
        told(ref="a", input=5, output=3, model="known"),
        told(ref="b", input=2, model="known"),
    )
    assert (found.calls, found.input, found.output) == (2, 7, 3)
    assert found.computed == 7 * MILLION + 3 * 10 * MILLION


def test_of_the_session_so_far_what_it_grew_by_counts() -> None:
    found = figures(*(told(counts="total", input=each) for each in (5, 12, 12, 8)))
    assert (found.calls, found.input, found.unpriced) == (2, 12, 2)


def test_a_lower_sum_after_a_new_start_begins_a_new_count() -> None:
    found = figures(
        told(counts="total", input=12),
        told(kind="session.start"),
        told(counts="total", input=5),
    )
    assert found.input == 17


def test_the_newest_call_is_one_for_as_long_as_it_reads_the_same() -> None:
    found = figures(
        told(counts="newest", input=3, output=1),
        told(counts="newest", input=3, output=4),
        told(counts="newest", input=9, output=1),
    )
    assert (found.calls, found.input, found.output, found.lower_bounds) == (2, 12, 5, 2)


def test_of_two_sources_the_one_that_tells_more_counts() -> None:
    found = figures(
        told(native="turn", input=9, counts="total"),
        told(native="thread", input=9, counts="total"),
        told(native="thread", input=12, counts="total"),
    )
    assert found.input == 12


def test_money_that_was_told_is_reported_whole_and_the_price_stands_beside_it() -> None:
    found = figures(
        told(input=1_000_000, model="known"),
        told(at=1, total_cost_usd=0.5),
        told(at=2, input=1_000_000, model="known"),
        told(at=3, total_cost_usd=1.25),
        told(at=4, total_cost_usd=0.75),
    )
    assert (found.reported, found.unreported) == (5 * PICO // 4, 0)
    assert found.computed == 2 * PICO


def test_money_alone_is_known_too() -> None:
    found = figures(told(total_cost_usd=0.5), told(total_cost_usd=0.75))
    assert (found.reported, found.unreported, found.tokens) == (3 * PICO // 4, 0, 0)


def test_the_model_is_the_one_that_the_session_began_with() -> None:
    assert figures(told(kind="session.start", model="known"), told(input=4)).unpriced == 0


def test_what_was_told_goes_as_soon_as_a_file_tells_and_comes_back_after_it() -> None:
    counted = ledger()
    beside = ReportedFeed(counted)
    beside.take(told(input=5))
    beside.settle(counted.changed())
    assert total_figures(counted.rows(KEY)).input == 5
    counted.put("file", "kimi", [UsageCall(id="m", at_us=NOW_US, session="s1", input=6)])
    beside.settle(counted.changed())
    assert total_figures(counted.rows(KEY)).input == 6
    beside.take(told(input=3))
    beside.settle(())
    assert total_figures(counted.rows(KEY)).input == 6
    counted.forget("file")
    beside.settle(counted.changed())
    assert total_figures(counted.rows(KEY)).input == 8


@pytest.mark.parametrize(
    "data", [{"input": "9"}, {"input": -1}, {"input": True}, {"total_cost_usd": float("nan")}, {}]
)
def test_a_record_changed_from_outside_is_passed_over(data: dict[str, Any]) -> None:
    assert figures(told(**data)) == Figures()


RECORDS = st.lists(
    st.builds(
        lambda native, counts, tokens, cents, ref, sub: told(
            native=native, counts=counts, input=tokens, output=tokens // 3, ref=ref, sub=sub,
            model="known", **({"total_cost_usd": cents / 100} if cents else {}),
        ),
        st.sampled_from(["stream", "status"]),
        st.sampled_from(["each", "total", "newest"]),
        st.integers(0, 5_000),
        st.integers(0, 300),
        st.sampled_from(["", "a", "b"]),
        st.sampled_from([None, "sub"]),
    ),
    max_size=12,
)  # fmt: skip


@given(RECORDS, st.sets(st.integers(0, 12)))
def test_it_adds_up_to_the_same_however_often_it_is_settled_meanwhile(
    records: list[Record], stops: set[int]
) -> None:
    counted = ledger()
    beside = ReportedFeed(counted)
    for number, each in enumerate(records):
        beside.take(each)
        if number in stops:
            beside.settle(())
    beside.settle(())
    assert total_figures(counted.rows(KEY)) == figures(*records)
