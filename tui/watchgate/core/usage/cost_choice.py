"""The figure that a session shows: its agent's own or that of its files, and never a sum of both.

The agent's own cost comes first where it reported it from the session's start and the session's
files are not far ahead of it; then what those add up to, as they are whole; then what the agent
reported from somewhere in the middle, which is a lower bound. Tokens are those of the files, where
there are any.

The choice between two costs of the same calls: the agent's, or the table's; never a sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.model.usage_records import CountedRow, Source
from watchgate.core.usage.session_fold import tokens_of
from watchgate.core.usage.session_usage import (
    DAY_MODELS,
    MAX_DAYS,
    OTHERS,
    CountedUsage,
    ReportedUsage,
    SessionUsage,
    Spent,
    SubUsage,
    Tokens,
    joined_parts,
)
from watchgate.core.usage.usage_calls import Figures

_REPORTED_PARTS, _COMPUTED_PARTS = 2, 3


def source_of(figures: Figures) -> Source:
    """Chooses whose cost to show of calls that belong together, such as those of one session.

    The agent's where it reported one of every call; else the table's where that has a price of any;
    else the agent's of some of them.
    """
    if not figures.unreported and figures.calls:
        return "reported"
    if figures.unpriced < figures.calls:
        return "computed"
    return "reported" if figures.unreported < figures.calls else "unknown"


def covers(reported: int, computed: int | None) -> bool:
    """Returns whether an agent's own cost can be all of its session's (both in one unit).

    It cannot where the session's files come to far more by the price table: a status line is gone,
    or reported nothing under the user's plan. Prices that changed differ by less than that.
    """
    return computed is None or computed * _REPORTED_PARTS <= reported * _COMPUTED_PARTS


def cost_of(figures: Figures, source: Source) -> int | None:
    """Returns the cost by that source in pico-dollars, None where it has none of any call."""
    if source == "reported" and figures.unreported < figures.calls:
        return figures.reported
    if source == "computed" and figures.unpriced < figures.calls:
        return figures.computed
    return None


def cost_is_lower_bound(figures: Figures, source: Source) -> bool:
    """Returns whether the cost by that source is a lower bound: of some calls more is possible."""
    lacking = {"reported": figures.unreported, "computed": figures.unpriced, "unknown": 0}
    return bool(figures.lower_bounds or lacking[source])


def choose_figures(usage: SessionUsage) -> SessionUsage:
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
        "spent": _spent_parts(usage.agent, counted.rows, source, by_agent if own else None),
        "subs": _subs(counted.rows, counted.source),
    }
    return msgspec.structs.replace(usage, **figures)


def _figures_by_agent(by_agent: ReportedUsage) -> dict[str, Any]:
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


def _has_cost(counted: CountedUsage) -> bool:
    return any(row_cost(row, counted.source) is not None for row in counted.rows)


def row_cost(row: CountedRow, source: Source) -> int | None:
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
            cost=_sum(row_cost(row, source) for row in own),
            tokens=_all_tokens(own) or Tokens(),
            calls=sum(row.calls for row in own),
        )
        for sub, own in by_sub.items()
    )


def _spent_parts(
    agent: str, rows: Iterable[CountedRow], source: Source, own: ReportedUsage | None
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
        merged[each.day, each.model] = each if before is None else joined_parts(before, each)
    return tuple(merged.values())[-DAY_MODELS * MAX_DAYS :]


def _part(agent: str, row: CountedRow, source: Source, elsewhere: bool) -> Spent:
    cost = None if elsewhere else row_cost(row, source)
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
