"""The figures and lines of the Costs screen as plain values; nothing here draws.

Money is in nano-dollars, None is unknown. A sum is a lower bound when something is known to be
missing in it. Days are those of the core's local time. Lines are sessions, models and agents within
a window. The date of the price table is shown, with a warning once it is old.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from watchgate.core.model.records import BudgetData
from watchgate.core.model.session_view import SessionView
from watchgate.core.model.sessions import SessionState
from watchgate.core.model.usage_records import Part, Source
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import SessionUsage, Spent, Tokens, total
from watchgate.ui.costs.budget_words import today as today_budget
from watchgate.ui.costs.cost_sums import Sum, over, sum_of, today, used_since
from watchgate.ui.costs.limit_words import AgentLimits, agent_limits
from watchgate.ui.costs.sparks import of_hour

OLD_DAYS = 45
"""Older prices than this are warned of: models change theirs about as often."""

_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")


def dated(prices: str) -> date | None:
    """The date in the words of a table (`prices of 2026-11-18, genai-prices 0.2.3`)."""
    match = _DATE.search(prices[:200])
    try:
        return date.fromisoformat(match.group()) if match else None
    except ValueError:
        return None


def days_old(prices: str, today: date) -> int | None:
    """Returns the price table's age in days where it is too old to be passed over; else None."""
    date = dated(prices)
    age = (today - date).days if date else 0
    return age if age > OLD_DAYS else None


Key = tuple[str, str]
DAYS_OF_SPARK = 14


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session within the window; `share` of all known cost and `context` are 0 to 1.

    `tells` says that any usage of it is known, `source` whose figure the cost is, `least` that it
    is a lower bound, `partial` that its tokens may lack calls. `spark` is its cost by five minutes
    of the last hour, or by day where the window is longer; `turns` its newest turns.
    """

    key: Key
    label: str
    model: str = ""
    tells: bool = True
    cost: int | None = None
    source: Source = "unknown"
    is_lower_bound: bool = False
    tokens: Tokens | None = None
    partial: bool = False
    share: float | None = None
    context: float | None = None
    spark: tuple[int, ...] = ()
    turns: tuple[Part, ...] = ()

    @property
    def cached(self) -> float | None:
        """Returns the share, 0 to 1, of the model's input that came from its cache."""
        if self.tokens is None or not self.tokens.read:
            return None
        return self.tokens.cache_read / self.tokens.read


class ModelRow(msgspec.Struct, frozen=True):
    """The cost of a model; an empty name is unknown, and of that agent."""

    name: str
    agent: str
    sum: Sum


class AgentRow(msgspec.Struct, frozen=True):
    """The cost of an agent's sessions."""

    agent: str
    sum: Sum


def session_rows(state: State, first: int, now_us: int) -> list[CostRow]:
    """The sessions that live, or that used something since a day, in the order of first sight."""
    used = state.usage.sessions
    keys = [key for key, view in state.sessions.items() if view.state is not SessionState.GONE]
    keys += [key for key, each in used.items() if used_since(each, first)]
    today = state.usage.day_of(now_us)
    rows = []
    for key in dict.fromkeys(keys):
        each = used.get(key)
        row = _row(key, state.sessions.get(key), each, first)
        if each is not None:
            of_today = first == today
            minutes = state.usage.minutes(key, now_us) if of_today else ()
            spark = of_hour(minutes, now_us) if of_today else _by_day(each, today)
            row = msgspec.structs.replace(row, spark=spark)
        rows.append(row)
    known = sum(row.cost or 0 for row in rows)
    return [
        row
        if row.cost is None
        else msgspec.structs.replace(row, share=row.cost / known if known else 0.0)
        for row in rows
    ]


def model_rows(
    spent: Iterable[Spent], first: int, silent: Iterable[CostRow]
) -> tuple[ModelRow, ...]:
    """The models of some days, the dearest first; after them what no model is known of."""
    by_model: dict[tuple[str, str], list[Spent]] = {}
    for each in spent:
        if each.day >= first:
            by_model.setdefault((each.model, "" if each.model else each.agent), []).append(each)
    for row in silent:
        by_model.setdefault((row.model, "" if row.model else row.key[0]), [])
    rows = [ModelRow(*name, sum_of(parts)) for name, parts in by_model.items()]
    return tuple(sorted(rows, key=lambda row: (*_unknown_last(row.sum.cost, row.name), row.name)))


def agent_rows(
    spent: Iterable[Spent], first: int, silent: Iterable[CostRow]
) -> tuple[AgentRow, ...]:
    """The agents of some days, the dearest first; a sum lacks what silent sessions used."""
    by_agent: dict[str, list[Spent]] = {}
    for each in spent:
        if each.day >= first:
            by_agent.setdefault(each.agent, []).append(each)
    missing = {row.key[0] for row in silent}
    for agent in missing:
        by_agent.setdefault(agent, [])
    rows = []
    for agent, parts in by_agent.items():
        known = sum_of(parts)
        if agent in missing:
            known = msgspec.structs.replace(known, is_lower_bound=True)
        rows.append(AgentRow(agent, known))
    return tuple(sorted(rows, key=lambda row: (*_unknown_last(row.sum.cost, row.agent), row.agent)))


def _unknown_last(cost: int | None, name: str) -> tuple[bool, bool, int]:
    return cost is None, not name, -(cost or 0)


def _row(key: Key, view: SessionView | None, used: SessionUsage | None, first: int) -> CostRow:
    label = view.label if view is not None else used.label if used is not None else ""
    model = (view.model or "") if view is not None else ""
    if used is None:
        return CostRow(key=key, label=label or key[1][:8], model=model, tells=False)
    cost, tokens = used.since(first)
    size = used.context_size
    full = used.context_used
    return CostRow(
        key=key,
        label=label or key[1][:8],
        model=used.models[-1] if used.models else model,
        tells=used.cost is not None or used.tokens is not None,
        cost=cost,
        source=used.source,
        is_lower_bound=used.is_lower_bound,
        tokens=tokens,
        partial=used.partial,
        context=min(1.0, full / size) if size and full is not None else None,
        turns=used.turns,
    )


def _by_day(used: SessionUsage, today: int) -> tuple[int, ...]:
    """Returns the cost of each of the last days; empty where no cost of any is known."""
    days: dict[int, list[Spent]] = {}
    for each in used.spent:
        days.setdefault(each.day, []).append(each)
    shown = range(today - DAYS_OF_SPARK + 1, today + 1)
    costs = [total(days.get(day, ()))[0] for day in shown]
    return tuple(cost or 0 for cost in costs) if any(cost is not None for cost in costs) else ()


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
    """Everything that the screen shows at a moment; `silent` are those that report no usage.

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
        """Returns whether no agent has reported any usage yet."""
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
    """Computes the figures of a moment.

    Args:
        state: The core's state.
        now_us: The core's clock (UTC µs).
        window: Days of the list of sessions, today included.
        sort: The order of that list.
        days: Days of the chart, today included.
        keep: Filters the sessions that are listed; all without one.
    """
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
    """Returns the cost of the last hour, marked with the source of the day's figures."""
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
        day_costs.append(DayCost(day, cost, day in ran or day in by_day, known.is_lower_bound))
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
