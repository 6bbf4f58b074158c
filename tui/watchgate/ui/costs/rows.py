"""The lines of the Costs screen as plain values: sessions, models and agents within a window."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import Part, Source
from watchgate.core.sessions import SessionState
from watchgate.core.state import State
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import SessionUsage, Spent, total
from watchgate.core.views import SessionView
from watchgate.ui.costs.sparks import of_hour
from watchgate.ui.costs.sums import Sum, sum_of, used_since

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
        """Returns which part of what the model read came from its cache."""
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
            known = msgspec.structs.replace(known, at_least=True)
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
    """Returns what it cost on each of the last days; empty where no cost of any is known."""
    days: dict[int, list[Spent]] = {}
    for each in used.spent:
        days.setdefault(each.day, []).append(each)
    shown = range(today - DAYS_OF_SPARK + 1, today + 1)
    costs = [total(days.get(day, ()))[0] for day in shown]
    return tuple(cost or 0 for cost in costs) if any(cost is not None for cost in costs) else ()
