"""Which cost a session shows, and rows by agent, session, model and day that mix no two sources."""

from __future__ import annotations

from typing import Any

from watchgate.cli.money.cost_rows import By, ModelUsage, UsageSum, grouped, totals, used
from watchgate.cli.money.cost_table import cost_text, remarks, table, unreadable_words
from watchgate.cli.money.follow_costs import changes
from watchgate.core.usage.ledger_entries import LedgerRow
from watchgate.core.usage.session_usage import ReportedUsage, Spent, Tokens
from watchgate.core.usage.usage_calls import PICO, PICO_PER_NANO, Figures

USD = PICO
DAY = 20_759  # 2026-11-02


def row(session: str = "s", model: str = "small", day: int = DAY, **told: Any) -> LedgerRow:
    """A row of one call, by its figures."""
    sub = told.pop("sub", "")
    figures = Figures(**({"calls": 1, "input": 10, "unreported": 1} | told))
    return LedgerRow("claude", session, sub, day, model, figures)


def told(cost_nano: int | None, *, from_start: bool = True, model: str = "small") -> ReportedUsage:
    """What an agent told of a session on the first day."""
    spent = Spent(
        day=DAY, agent="claude", model=model, cost=cost_nano, tokens=Tokens(7, 8), source="reported"
    )
    return ReportedUsage(cost=cost_nano, spent=(spent,), from_start=from_start)


def shown(parts: list[ModelUsage], by: By) -> list[tuple[Any, ...]]:
    """The rows of a view: name, source, cost, whether it is a lower bound."""
    return [(each.name, each.source, each.cost, each.is_lower_bound) for each in grouped(parts, by)]


def test_a_session_with_a_price_of_every_call_is_computed() -> None:
    parts = used([row(computed=USD), row(model="large", computed=2 * USD)], {})
    assert shown(parts, "session") == [("s", "computed", 3 * USD, False)]


def test_a_session_with_a_cost_told_of_every_call_is_reported_and_not_added_to() -> None:
    parts = used([row(computed=USD, reported=5, unreported=0)], {})
    assert shown(parts, "agent") == [("claude", "reported", 5, False)]


def test_what_an_agent_told_from_the_start_stands_for_all_of_the_session() -> None:
    rows = [row(computed=200 * PICO_PER_NANO), row(model="large", computed=200 * PICO_PER_NANO)]
    parts = used(rows, {("claude", "s"): told(500)})
    (found,) = grouped(parts, "session")
    assert (found.source, found.cost, found.is_lower_bound) == (
        "reported",
        500 * PICO_PER_NANO,
        False,
    )
    assert (found.figures.calls, found.figures.input) == (2, 20)
    assert [(each.name, each.cost) for each in grouped(parts, "model")] == [
        ("large", None),
        ("small", 500 * PICO_PER_NANO),
    ]


def test_what_an_agent_told_gives_way_to_files_that_are_far_ahead_of_it() -> None:
    heard = {("claude", "s"): told(500)}
    assert shown(used([row(computed=USD)], heard), "session") == [("s", "computed", USD, False)]


def test_nothing_told_for_calls_without_a_price_is_no_cost() -> None:
    parts = used([row(unpriced=1)], {("claude", "s"): told(0)})
    assert [each[1:3] for each in shown(parts, "session")] == [("unknown", None)]


def test_what_an_agent_told_is_not_added_to_what_its_files_say_of_the_same_calls() -> None:
    parts = used([row(reported=400_000, unreported=0)], {("claude", "s"): told(500)})
    assert shown(parts, "session") == [("s", "reported", 500 * PICO_PER_NANO, False)]


def test_what_an_agent_told_from_the_middle_gives_way_to_what_the_files_add_up_to() -> None:
    heard = {("claude", "s"): told(500, from_start=False)}
    assert shown(used([row(computed=USD)], heard), "session") == [("s", "computed", USD, False)]
    unpriced = used([row(unpriced=1)], heard)
    assert shown(unpriced, "session") == [("s", "reported", 500 * PICO_PER_NANO, True)]


def test_a_session_without_files_has_what_was_told_of_it() -> None:
    parts = used([], {("acp", "x"): told(500), ("cursor", "y"): told(None)})
    assert shown(parts, "session") == [
        ("x", "reported", 500 * PICO_PER_NANO, False),
        ("y", "unknown", None, True),
    ]
    assert [each.figures.output for each in grouped(parts, "session")] == [8, 8]


def test_a_row_has_one_source_and_what_has_no_price_is_unknown_by_itself() -> None:
    parts = used(
        [
            row("a", computed=USD),
            row("a", model="nova", unpriced=1),
            row("b", reported=9, unreported=0),
            row("c", model="nova", unpriced=1),
        ],
        {},
    )
    assert shown(parts, "agent") == [
        ("claude", "computed", USD, True),
        ("claude", "reported", 9, False),
        ("claude", "unknown", None, True),
    ]
    assert shown(parts, "model") == [
        ("nova", "unknown", None, True),
        ("small", "computed", USD, False),
        ("small", "reported", 9, False),
    ]
    assert grouped(parts, "model")[0].figures.calls == 2
    assert [(each.source, each.cost) for each in totals(grouped(parts, "agent"))] == [
        ("reported", 9),
        ("computed", USD),
        ("unknown", None),
    ]


def test_every_view_has_the_same_sums() -> None:
    parts = used(
        [
            row("a", computed=USD, sub="x"),
            row("a", model="nova", unpriced=1, day=DAY + 1),
            row("b", reported=9, unreported=0),
        ],
        {("claude", "z"): told(77)},
    )
    views: tuple[By, ...] = ("agent", "session", "model", "day")
    sums = [
        (sum(each.cost or 0 for each in rows), sum(each.figures.tokens for each in rows))
        for rows in (grouped(parts, by) for by in views)
    ]
    assert sums == [(USD + 9 + 77 * PICO_PER_NANO, 45)] * 4


def test_a_time_that_is_asked_for_does_not_change_whose_figure_a_session_shows() -> None:
    rows = [row(computed=USD, reported=3, unreported=0), row(day=DAY + 1, computed=USD)]
    parts = used(rows, {}, within=rows[:1])
    assert shown(parts, "session") == [("s", "computed", USD, False)]
    assert shown(used(rows, {}, first_day=DAY + 1), "day") == [
        ("2026-11-03", "computed", USD, False)
    ]


def test_sessions_are_in_the_order_in_which_they_ended() -> None:
    parts = used([row("b", computed=1), row("a", day=DAY + 1, computed=1)], {})
    assert [each.name for each in grouped(parts, "session")] == ["b", "a"]


def test_costs_are_written_with_what_they_lack() -> None:
    def text(**fields: Any) -> str:
        return cost_text(UsageSum(by="agent", name="claude", **fields))

    assert text(source="computed", cost=4 * USD) == "$4.00"
    assert text(source="computed", cost=4 * USD, is_lower_bound=True) == ">= $4.00"
    assert text(source="unknown", is_lower_bound=True) == "?"
    assert text(source="reported") == "-"


def test_numbers_stand_under_each_other() -> None:
    rows = grouped(used([row("a", computed=USD), row("b", computed=2000 * USD)], {}), "session")
    lines = table("session", rows, totals(rows), subs=False)
    assert len({line.index("computed") for line in lines[1:]}) == 1
    assert len({line.rindex(".00") for line in lines[1:]}) == 1


def test_remarks_name_the_table_only_where_it_was_used() -> None:
    unknown = totals(grouped(used([row(model="", unpriced=1)], {}), "agent"))
    assert remarks(unknown, "prices of today") == [
        "1 model unpriced: (model not told); a [[price]] in the configuration gives one"
    ]
    computed = totals(grouped(used([row(computed=1)], {}), "agent"))
    assert remarks(computed, "prices of today") == [
        "prices of today; estimates at list prices, not your invoice"
    ]


def test_what_could_not_be_read_is_in_words() -> None:
    assert unreadable_words(0, 0) == ""
    assert unreadable_words(2, 1).startswith("2 lines and 1 file could not be read")


def test_rows_that_changed_are_told_again_and_those_that_are_no_more_are_emptied() -> None:
    before = grouped(used([row("a", unpriced=1), row("b", computed=USD)], {}), "session")
    now = grouped(used([row("a", computed=USD), row("b", computed=USD)], {}), "session")
    told = changes({each.key: each for each in before}, {each.key: each for each in now})
    assert [(each.name, each.source, each.cost, each.figures.calls) for each in told] == [
        ("a", "unknown", None, 0),
        ("a", "computed", USD, 1),
    ]
