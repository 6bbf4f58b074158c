"""What the Costs screen and the strip tell of money, as plain values; nothing here draws.

Money is in nano-dollars, None is unknown. A sum is `at_least` one when something is known to be
missing in it.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Literal

import msgspec

from watchgate.core.sessions import SessionState
from watchgate.core.state import State
from watchgate.core.usage import DAY_US, SessionUsage, Spent, total
from watchgate.core.usage_meter import Tokens
from watchgate.core.views import SessionView
from watchgate.ui.costs.sums import Sum, over, today, used_since

Sort = Literal["cost", "tokens", "context", "name"]
Key = tuple[str, str]

SORTS: tuple[Sort, ...] = ("cost", "tokens", "context", "name")
WINDOWS = (1, 7, 30)
"""The days that the screen can show, today among them."""
WEEK = 7
WINDOW_WORDS = {1: "today", 7: "7 days", 30: "30 days"}


class CostRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session within the window; `share` of all known cost and `context` are 0 to 1.

    `tells` says that its agent has told any usage, `partial` that its tokens may lack calls.
    """

    key: Key
    label: str
    model: str = ""
    tells: bool = True
    cost: int | None = None
    tokens: Tokens | None = None
    partial: bool = False
    share: float | None = None
    context: float | None = None

    @property
    def cached(self) -> float | None:
        """Which part of what the model read came from its cache."""
        if self.tokens is None or not self.tokens.read:
            return None
        return self.tokens.cache_read / self.tokens.read


class ModelRow(msgspec.Struct, frozen=True):
    """What a model cost; an empty name is unknown, and of that agent."""

    name: str
    agent: str
    cost: int | None


class DayCost(msgspec.Struct, frozen=True):
    """What a day cost, None where that is not known: nothing was recorded, or no cost told."""

    day: int
    cost: int | None
    recorded: bool = True


class Costs(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that the screen shows at a moment; `silent` are those that tell no usage."""

    window: int
    today: Sum
    week: Sum
    month: Sum
    month_name: str
    hour: int | None
    rows: tuple[CostRow, ...]
    all: Sum
    tokens: Tokens | None
    silent: tuple[CostRow, ...]
    models: tuple[ModelRow, ...]
    days: tuple[DayCost, ...]

    @property
    def empty(self) -> bool:
        """Whether no agent has told any usage yet."""
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
    day = now_us // DAY_US
    rows = _rows(state, day - window + 1)
    kept = [row for row in rows if keep is None or keep(row, state.sessions.get(row.key))]
    silent = tuple(row for row in rows if not row.tells)
    spent = state.usage.spent
    month_start = day_of(date_of(day).replace(day=1))
    of_today = today(state, now_us)
    return Costs(
        window=window,
        today=of_today,
        week=over(state, day - WEEK + 1, day, of_today),
        month=over(state, month_start, day, of_today),
        month_name=date_of(day).strftime("%B"),
        hour=state.usage.last_hour(now_us) if total(spent)[0] is not None else None,
        rows=tuple(sorted(kept, key=_ORDERS[sort])),
        all=_sum([row.cost for row in kept]),
        tokens=_all_tokens(kept),
        silent=silent,
        models=_models(spent, day - max(window, WEEK) + 1, silent),
        days=_days(state, range(day - days + 1, day + 1)),
    )


def date_of(day: int) -> date:
    """The date of a day since 1970."""
    return datetime.fromtimestamp(0, UTC).date() + timedelta(days=day)


def day_of(date: date) -> int:
    """The days since 1970."""
    return (date - datetime.fromtimestamp(0, UTC).date()).days


def _rows(state: State, first: int) -> list[CostRow]:
    """The sessions that live, or that used something in the window, in the order of first sight."""
    used = state.usage.sessions
    keys = [key for key, view in state.sessions.items() if view.state is not SessionState.GONE]
    keys += [key for key, each in used.items() if used_since(each, first)]
    rows = [_row(key, state.sessions.get(key), used.get(key), first) for key in dict.fromkeys(keys)]
    known = sum(row.cost or 0 for row in rows)
    return [
        row
        if row.cost is None
        else msgspec.structs.replace(row, share=row.cost / known if known else 0.0)
        for row in rows
    ]


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
        tokens=tokens,
        partial=used.partial,
        context=min(1.0, full / size) if size and full is not None else None,
    )


def _models(
    spent: tuple[Spent, ...], first: int, silent: tuple[CostRow, ...]
) -> tuple[ModelRow, ...]:
    """The models of some days, the dearest first; after them what no model is known of."""
    by_model: dict[tuple[str, str], list[Spent]] = {}
    for each in spent:
        if each.day >= first:
            by_model.setdefault((each.model, "" if each.model else each.agent), []).append(each)
    for row in silent:
        by_model.setdefault((row.model, "" if row.model else row.key[0]), [])
    rows = [ModelRow(*name, total(parts)[0]) for name, parts in by_model.items()]
    return tuple(
        sorted(rows, key=lambda row: (row.cost is None, not row.name, -(row.cost or 0), row.name))
    )


def _days(state: State, days: range) -> tuple[DayCost, ...]:
    by_day: dict[int, list[Spent]] = {}
    for each in state.usage.spent:
        by_day.setdefault(each.day, []).append(each)
    ran = set(state.usage.ran)
    return tuple(
        DayCost(
            day, total(by_day[day])[0] if day in by_day else 0 if day in ran else None, day in ran
        )
        for day in days
    )


def _sum(known: list[int | None]) -> Sum:
    told = [each for each in known if each is not None]
    return Sum(sum(told) if told else None, len(told) < len(known))


def _all_tokens(rows: list[CostRow]) -> Tokens | None:
    told = [row.tokens for row in rows if row.tokens is not None]
    result: Tokens | None = None
    for each in told:
        result = each if result is None else result.plus(each)
    return result


_ORDERS: dict[Sort, Callable[[CostRow], tuple[object, ...]]] = {
    "cost": lambda row: (row.cost is None, -(row.cost or 0)),
    "tokens": lambda row: (row.tokens is None, -(row.tokens.all if row.tokens else 0)),
    "context": lambda row: (row.context is None, -(row.context or 0.0)),
    "name": lambda row: (row.label, row.key),
}
