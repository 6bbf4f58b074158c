"""A row of usage and cost as one JSON object, the name of what it is about first."""

from __future__ import annotations

from typing import Any

from watchgate.cli.costs.rows import CostRow, usd


def told(row: CostRow) -> dict[str, Any]:
    """The object; `cost_usd` is null where nobody knows the cost."""
    fields: dict[str, Any] = {row.by: row.name}
    if row.by in {"session", "turn", "call"}:
        fields["agent"] = row.agent
    if row.by in {"turn", "call"}:
        fields |= {"session": row.session, "at": row.last}
    fields |= _figures(row)
    if row.by != "model":
        fields["models"] = row.models
    if row.by in {"session", "agent"}:
        fields["unreadable"] = row.unreadable
    if row.by == "session":
        fields["cwd"] = row.cwd
        fields["subs"] = [{"sub": sub.name} | _figures(sub) for sub in row.subs]
    if row.by == "call":
        fields["tools"] = row.tools
    return fields


def _figures(row: CostRow) -> dict[str, Any]:
    figures = row.figures
    return {
        "input": figures.input,
        "output": figures.output,
        "cache_write": figures.cache_write,
        "cache_read": figures.cache_read,
        "reasoning": figures.reasoning,
        "cost_usd": usd(row.cost),
        "source": row.source,
        "lower_bound": row.is_lower_bound,
        "unpriced": row.unpriced,
        "calls": figures.calls,
    }
