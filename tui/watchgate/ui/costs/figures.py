"""The figures of the Costs screen, as plain values; nothing here draws.

Money is in nano-dollars, None is unknown. A sum is `at_least` one when something is known to be
missing in it. Days are those of the core's local time.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from watchgate.core.records import BudgetData
from watchgate.core.state import State
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import Spent, total
from watchgate.core.views import SessionView
from watchgate.ui.costs.budgets import today as today_budget
from watchgate.ui.costs.limits import AgentLimits, agent_limits
from watchgate.ui.costs.prices import days_old
from watchgate.ui.costs.rows import (
    AgentRow,
    CostRow,
    Key,
    ModelRow,
    agent_rows,
    model_rows,
    session_rows,
)
from watchgate.ui.costs.sums import Sum, over, sum_of, today

__all__ = [
    "SORTS", "WEEK", "WINDOWS", "WINDOW_WORDS", "CostRow", "Costs", "DayCost", "Key", "Sort",
    "costs", "date_of", "day_of",
]  # fmt: skip

Sort = Literal["cost", "tokens", "context", "name"]

SORTS: tuple[Sort, ...] = ("cost", "tokens", "context", "name")
WINDOWS = (1, 7, 30)
"""The days that the screen can show, today among them."""
WEEK = 7
WINDOW_WORDS = {1: "today", 7: "7 days", 30: "30 days"}


class DayCost(msgspec.Struct, frozen=True):
    """The cost of a day, None where it is unknown: nothing was recorded, or no cost reported."""

    day: int
    cost: int | None
    recorded: bool = True
    is_lower_bound: bool = False


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the screen shows at a moment; `silent` are those that tell no usage.

    `tokens_per_min` are those that no cache held. `prices` are the words of the table of prices,
    `prices_old` its age in days where that is too much. `unpriced` are models that no table has,
    `unreadable` counts lines and files of transcripts. `budget` is the day's, once it is nearly
    used up.
    """

    window: int
    today: Sum
    week: Sum
    month: Sum
    month_name: str
    hour: Sum
    tokens_per_min: int | None
    rows: tuple[CostRow, ...]
    all: Sum
    tokens: Tokens | None
    silent: tuple[CostRow, ...]
    models: tuple[ModelRow, ...]
    agents: tuple[AgentRow, ...]
    days: tuple[DayCost, ...]
    limits: tuple[AgentLimits, ...] = ()
    prices: str = ""
    prices_old: int | None = None
    unpriced: tuple[str, ...] = ()
    unreadable: int = 0
    budget: BudgetData | None = None

    @property
    def empty(self) -> bool:
        """Returns whether no agent has told any usage yet."""
        return self.all.cost is None and self.tokens is None and self.month.cost is None


def costs(
    state: State,
    now_us: int,
    *,
    window: int = 1,
    sort: Sort = "cost",
    days: int = 14,
    keep: Callable[[CostRow, SessionView | None], bool] | None = None,
) -> Costs:
    """The figures of a moment, by the core's clock."""
    usage = state.usage
    day = usage.day_of(now_us)
    first, week = day - window + 1, day - max(window, WEEK) + 1
    rows = session_rows(state, first, now_us)
    shown = [row for row in rows if keep is None or keep(row, state.sessions.get(row.key))]
    silent = tuple(row for row in rows if not row.tells)
    month_start = day_of(date_of(day).replace(day=1))
    of_today = today(state, now_us)
    return Costs(
        window=window,
        today=of_today,
        week=over(state, day - WEEK + 1, day, of_today),
        month=over(state, month_start, day, of_today),
        month_name=date_of(day).strftime("%B"),
        hour=_hour(state, now_us, of_today),
        tokens_per_min=usage.burn(now_us).tokens_per_min,
        rows=tuple(sorted(shown, key=_ORDERS[sort])),
        all=sum_of(shown),
        tokens=_all_tokens(shown),
        silent=silent,
        models=model_rows(usage.spent, week, silent),
        agents=agent_rows(usage.spent, week, silent),
        days=_days(state, range(day - days + 1, day + 1)),
        limits=agent_limits(usage.limits, now_us),
        prices=usage.prices,
        prices_old=days_old(usage.prices, date_of(day)),
        unpriced=_unpriced(state, shown),
        unreadable=usage.unreadable,
        budget=today_budget(state, now_us),
    )


def date_of(day: int) -> date:
    """The date of a day since 1970."""
    return datetime.fromtimestamp(0, UTC).date() + timedelta(days=day)


def day_of(date: date) -> int:
    """The days since 1970."""
    return (date - datetime.fromtimestamp(0, UTC).date()).days


def _hour(state: State, now_us: int, of_today: Sum) -> Sum:
    """Returns what the last hour cost, by whomever the day's figures are."""
    if total(state.usage.spent)[0] is None:
        return Sum(None)
    return msgspec.structs.replace(of_today, cost=state.usage.burn(now_us).usd_nano_per_hour)


def _days(state: State, days: range) -> tuple[DayCost, ...]:
    by_day: dict[int, list[Spent]] = {}
    for each in state.usage.spent:
        by_day.setdefault(each.day, []).append(each)
    ran = set(state.usage.ran)
    day_costs = []
    for day in days:
        known = sum_of(by_day.get(day, ()))
        cost = known.cost if day in by_day else 0 if day in ran else None
        day_costs.append(DayCost(day, cost, day in ran or day in by_day, known.at_least))
    return tuple(day_costs)


def _unpriced(state: State, rows: list[CostRow]) -> tuple[str, ...]:
    """The models of the sessions shown that no table has a price for."""
    used = [state.usage.sessions.get(row.key) for row in rows]
    return tuple(dict.fromkeys(model for each in used if each for model in each.unpriced))


def _all_tokens(rows: list[CostRow]) -> Tokens | None:
    known = [row.tokens for row in rows if row.tokens is not None]
    result: Tokens | None = None
    for each in known:
        result = each if result is None else result.plus(each)
    return result


_ORDERS: dict[Sort, Callable[[CostRow], tuple[object, ...]]] = {
    "cost": lambda row: (row.cost is None, -(row.cost or 0)),
    "tokens": lambda row: (row.tokens is None, -(row.tokens.all if row.tokens else 0)),
    "context": lambda row: (row.context is None, -(row.context or 0.0)),
    "name": lambda row: (row.label, row.key),
}
