"""The figure that a session shows: its agent's own or that of its files, and never a sum of both.

The agent's own cost comes first where it reported it from the session's start and the session's
files are not far ahead of it; then what those add up to, as they are whole; then what the agent
reported from somewhere in the middle, which is a lower bound. Tokens are those of the files, where
there are any.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.ledger.choosing import covers
from watchgate.core.ledger.counted import CountedRow, Source
from watchgate.core.usage.counted import tokens_of
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import (
    DAY_MODELS,
    DAYS_KEPT,
    OTHERS,
    Counted,
    SessionUsage,
    Spent,
    SubUsage,
    Told,
    added,
)


def chosen(usage: SessionUsage) -> SessionUsage:
    """Returns the session with its figures, by what was reported and counted of it."""
    by_agent, counted = usage.reported, usage.counted
    if counted is None:
        return msgspec.structs.replace(usage, **_figures_by_agent(by_agent), subs=())
    reported = _sum(row.reported for row in counted.rows)
    computed = _sum(row.computed for row in counted.rows)
    own = by_agent.cost is not None and (
        (by_agent.from_start and covers(by_agent.cost, computed))
        if _has_cost(counted)
        else by_agent.cost > 0 or not counted.rows  # nothing for calls: no cost was told of them
    )
    source: Source = "reported" if own else counted.source
    figures: dict[str, Any] = {
        "source": source,
        "cost": by_agent.cost if own else {"reported": reported, "computed": computed}.get(source),
        "reported_cost": by_agent.cost if own or reported is None else reported,
        "computed_cost": computed,
        "is_lower_bound": not by_agent.from_start
        if own
        else any(_is_lower_bound(r, source) for r in counted.rows),
        "unpriced": () if source == "reported" else _unpriced(counted.rows),
        "tokens": _all_tokens(counted.rows),
        "reasoning": sum(row.reasoning for row in counted.rows),
        "partial": False,
        "spent": _spent(usage.agent, counted.rows, source, by_agent if own else None),
        "subs": _subs(counted.rows, counted.source),
    }
    return msgspec.structs.replace(usage, **figures)


def _figures_by_agent(by_agent: Told) -> dict[str, Any]:
    return {
        "cost": by_agent.cost,
        "source": "unknown" if by_agent.cost is None else "reported",
        "reported_cost": by_agent.cost,
        "computed_cost": None,
        "is_lower_bound": by_agent.cost is not None and not by_agent.from_start,
        "unpriced": (),
        "tokens": by_agent.tokens,
        "reasoning": by_agent.tokens.reasoning if by_agent.tokens is not None else 0,
        "partial": by_agent.partial,
        "spent": by_agent.spent,
    }


def _has_cost(counted: Counted) -> bool:
    return any(cost_of(row, counted.source) is not None for row in counted.rows)


def cost_of(row: CountedRow, source: Source) -> int | None:
    """Returns the cost of a row by that source, in nano-dollars."""
    return {"reported": row.reported, "computed": row.computed}.get(source)


def _is_lower_bound(row: CountedRow, source: Source) -> bool:
    lacking = {"reported": row.unreported, "computed": row.unpriced}.get(source, 0)
    return row.is_lower_bound or bool(lacking)


def _unpriced(rows: Iterable[CountedRow]) -> tuple[str, ...]:
    return tuple(sorted({row.model for row in rows if row.unpriced}))


def _all_tokens(rows: Iterable[CountedRow]) -> Tokens | None:
    tokens: Tokens | None = None
    for row in rows:
        tokens = tokens_of(row) if tokens is None else tokens.plus(tokens_of(row))
    return tokens


def _subs(rows: Iterable[CountedRow], source: Source) -> tuple[SubUsage, ...]:
    by_sub: dict[str, list[CountedRow]] = {}
    for row in rows:
        if row.sub:
            by_sub.setdefault(row.sub, []).append(row)
    return tuple(
        SubUsage(
            sub=sub,
            cost=_sum(cost_of(row, source) for row in own),
            tokens=_all_tokens(own) or Tokens(),
            calls=sum(row.calls for row in own),
        )
        for sub, own in by_sub.items()
    )


def _spent(
    agent: str, rows: Iterable[CountedRow], source: Source, own: Told | None
) -> tuple[Spent, ...]:
    """Splits by day and model; the agent's `own` cost takes the place of what the files say."""
    parts = [_part(agent, row, source, own is not None) for row in rows]
    if own is not None:
        parts += [
            msgspec.structs.replace(each, tokens=None, is_lower_bound=not own.from_start)
            for each in own.spent
            if each.cost is not None
        ]
    merged: dict[tuple[int, str], Spent] = {}
    models: dict[int, set[str]] = {}
    for each in sorted(parts, key=lambda each: each.day):
        known = models.setdefault(each.day, set())
        if each.model not in known and len(known) >= DAY_MODELS - 1:
            each = msgspec.structs.replace(each, model=OTHERS)  # noqa: PLW2901 - the same part
        known.add(each.model)
        before = merged.get((each.day, each.model))
        merged[each.day, each.model] = each if before is None else added(before, each)
    return tuple(merged.values())[-DAY_MODELS * DAYS_KEPT :]


def _part(agent: str, row: CountedRow, source: Source, elsewhere: bool) -> Spent:
    cost = None if elsewhere else cost_of(row, source)
    return Spent(
        day=row.day,
        agent=agent,
        model=row.model,
        cost=cost,
        tokens=tokens_of(row),
        source=source if elsewhere or cost is not None else "unknown",
        is_lower_bound=not elsewhere and _is_lower_bound(row, source),
        unpriced=0 if source == "reported" else row.unpriced,
    )


def _sum(costs: Iterable[int | None]) -> int | None:
    known = [each for each in costs if each is not None]
    return sum(known) if known else None
