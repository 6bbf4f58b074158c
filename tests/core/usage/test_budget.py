"""How a budget stands, when that is said, and what it asks of the gate."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from watchgate.core.config.config_sections import CostsConfig
from watchgate.core.model.records import BudgetData
from watchgate.core.usage.budget import (
    DAY,
    MAX_SESSIONS,
    Budgets,
    Spending,
    apply_budget,
    ask_reason,
    budget_key,
    changed_budget,
    describe_budget,
    spent_by,
    spent_on,
)
from watchgate.core.usage.session_usage import SessionUsage, Spent

USD = 1_000_000_000
TODAY = 20_000
CONFIG = CostsConfig(budget_day_usd=20, budget_session_usd=5, over_budget="ask")


def day(usd: float, before: BudgetData | None = None, **more: Any) -> BudgetData | None:
    """What is said of the day's budget after so much was spent."""
    least, config = more.pop("is_lower_bound", False), more.pop("config", CONFIG)
    return changed_budget(
        "day", Spending(round(usd * USD), least), config, before, more.get("day", TODAY)
    )


def said(usd: float, before: BudgetData | None = None, **more: Any) -> BudgetData:
    found = day(usd, before, **more)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("usd", "level"),
    [(0, None), (15.99, None), (16, "warned"), (19.999999999, "warned"), (20, "used-up")],
)
def test_a_level_is_reached_at_its_very_amount(usd: float, level: str | None) -> None:
    found = day(usd)
    assert (found and found.level) == level


def test_what_is_said_names_the_amounts_and_what_follows() -> None:
    assert said(20.4, is_lower_bound=True) == BudgetData(
        scope="day",
        level="used-up",
        spent_usd=20.4,
        limit_usd=20,
        day=TODAY,
        asks=True,
        is_lower_bound=True,
    )
    assert not said(20.4, config=replace(CONFIG, over_budget="tell")).asks
    assert not said(16).asks


def test_a_level_is_said_once() -> None:
    assert day(17, said(16)) is None
    assert day(30, said(20)) is None


def test_a_complete_figure_that_fell_sets_calls_free() -> None:
    assert said(2, said(20)).level == "free"
    assert said(17, said(20)).level == "warned"
    assert day(2, said(2, said(20))) is None


def test_a_lower_bound_that_fell_proves_nothing() -> None:
    assert day(2, said(20), is_lower_bound=True) is None
    assert day(0, said(16), is_lower_bound=True) is None
    assert said(21, said(16), is_lower_bound=True).level == "used-up"


def test_a_new_day_is_free_and_that_is_said() -> None:
    found = said(0, said(20), day=TODAY + 1, is_lower_bound=True)
    assert (found.level, found.day, found.spent_usd) == ("free", TODAY + 1, 0)
    assert day(0, found, day=TODAY + 2) is None
    assert said(20, said(20), day=TODAY + 1).level == "used-up"


def test_another_limit_or_another_consequence_is_said() -> None:
    more, told = replace(CONFIG, budget_day_usd=30), replace(CONFIG, over_budget="tell")
    assert said(20, said(20), config=more, is_lower_bound=True).level == "free"
    assert said(20, said(20), config=told).asks is False
    none = said(20, said(20), config=CostsConfig())
    assert (none.level, none.limit_usd) == ("free", 0)


def test_without_a_budget_nothing_is_said() -> None:
    assert day(1_000, config=CostsConfig()) is None


def test_a_days_spending_is_that_of_all_sessions_on_it() -> None:
    parts = [
        Spent(day=TODAY, agent="claude", cost=3 * USD, source="computed"),
        Spent(day=TODAY, agent="codex", cost=2 * USD, source="reported"),
        Spent(day=TODAY, agent="codex", model="other", source="reported"),
        Spent(day=TODAY - 1, agent="claude", cost=50 * USD, is_lower_bound=True),
    ]
    assert spent_on(TODAY, parts) == Spending(5 * USD)
    assert spent_on(TODAY + 1, parts) == Spending(0)


@pytest.mark.parametrize(
    "part",
    [
        Spent(day=TODAY, agent="claude"),
        Spent(day=TODAY, agent="claude", cost=1, is_lower_bound=True),
        Spent(day=TODAY, agent="claude", cost=1, unpriced=2),
    ],
)
def test_what_is_not_known_of_a_day_makes_it_a_lower_bound(part: Spent) -> None:
    assert spent_on(TODAY, [part]).is_lower_bound


def test_a_sessions_spending() -> None:
    seen = SessionUsage(agent="claude", session="s1", cost=3 * USD)
    assert spent_by(seen) == Spending(3 * USD)
    assert spent_by(replace(seen, is_lower_bound=True)).is_lower_bound
    assert spent_by(replace(seen, unpriced=("nova-1",))).is_lower_bound
    assert spent_by(replace(seen, cost=None)) == Spending(0, is_lower_bound=True)


def test_the_day_and_the_session_each_ask() -> None:
    budgets: Budgets = {}
    over = changed_budget("session", Spending(6 * USD), CONFIG, None, TODAY)
    assert over is not None
    apply_budget(budgets, over, ("claude", "s1"))
    assert ask_reason(budgets, "claude", "s1") == (
        "the session's budget is used up: $6.00 of $5.00"
    )
    assert ask_reason(budgets, "claude", "s2") == ""
    apply_budget(budgets, said(20.4, is_lower_bound=True), ("", ""))
    assert ask_reason(budgets, "codex", "s2") == (
        "today's budget is used up: $20.40 of $20.00 (at least)"
    )


@pytest.mark.parametrize(
    "told", [said(16), replace(said(20), asks=False), said(0, said(20), day=TODAY + 1)]
)
def test_what_is_only_told_asks_nothing(told: BudgetData) -> None:
    assert ask_reason({DAY: told}, "claude", "s1") == ""


def test_small_budgets_are_told_in_small_amounts() -> None:
    small = BudgetData(scope="session", level="used-up", spent_usd=0.0312, limit_usd=0.03)
    assert describe_budget(small) == "the session's budget is used up: $0.0312 of $0.0300"


def test_a_session_that_is_free_again_is_forgotten() -> None:
    over = BudgetData(scope="session", level="used-up", spent_usd=6, limit_usd=5, asks=True)
    budgets: Budgets = {}
    apply_budget(budgets, over, ("claude", "s1"))
    apply_budget(budgets, replace(over, level="free", asks=False), ("claude", "s1"))
    assert budgets == {}


def test_so_many_sessions_are_kept_and_the_day() -> None:
    over = BudgetData(scope="session", level="used-up", spent_usd=6, limit_usd=5, asks=True)
    budgets: Budgets = {}
    apply_budget(budgets, said(20), ("", ""))
    for number in range(MAX_SESSIONS + 5):
        apply_budget(budgets, over, ("claude", str(number)))
    assert len(budgets) == MAX_SESSIONS
    assert DAY in budgets
    assert budget_key("claude", str(MAX_SESSIONS + 4)) in budgets


@given(
    steps=st.lists(
        st.tuples(st.integers(0, 30), st.booleans(), st.integers(TODAY, TODAY + 2)), max_size=30
    )
)
def test_calls_are_asked_until_a_complete_figure_or_a_new_day(
    steps: list[tuple[int, bool, int]],
) -> None:
    """Against the rule in one sentence: asked since the limit was reached, unless one of these."""
    before: BudgetData | None = None
    asked, last = False, TODAY
    for usd, least, today in steps:
        asked = usd >= 20 or (asked and least and today == last)
        last = today
        told = day(usd, before, is_lower_bound=least, day=today)
        if told is not None:
            assert before is None or (told.level, told.day) != (before.level, before.day)
            before = told
        assert (before is not None and before.asks) == asked
