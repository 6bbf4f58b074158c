"""The fold of `usage` records, which agents and their streams report of one session."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.records import Record
from watchgate.core.usage.meter import Tokens, count, counts_in
from watchgate.core.usage.session import (
    DAY_MODELS,
    DAYS_KEPT,
    OTHERS,
    SessionUsage,
    Spent,
    Told,
    added,
)
from watchgate.core.usage.sources import NAME_CHARS, is_split, metered, sums


def heard(
    usage: SessionUsage, record: Record, *, day: int, model: str, begun: bool
) -> SessionUsage:
    """Returns the session after a `usage` record; `model` is the one it was last known to use.

    Only `told` grows; `SessionUsage.spent` and the figures are chosen afterwards.

    Args:
        usage: The session so far.
        record: The `usage` record.
        day: The local day of the record (days since 1970).
        model: The model that the session was last known to use.
        begun: The session's start was recorded, and nothing was reported before.
    """
    data = record.data
    named = data.get("model")
    model = (named if isinstance(named, str) and named else model)[:NAME_CHARS]
    changes: dict[str, Any] = {"at": max(usage.at, record.at)}
    if record.sub is None:
        changes |= _context(data)
    if model and not (record.sub and model in usage.models):
        others = tuple(each for each in usage.models if each != model)[-3:]
        # What a sub-agent uses is not what the session itself used last.
        first = others[:-1] if record.sub else others
        changes["models"] = (*first, model, *others[len(first) :])
    changes["told"] = _more(usage, record, day, model, begun=begun)
    return msgspec.structs.replace(usage, **changes)


def _more(usage: SessionUsage, record: Record, day: int, model: str, *, begun: bool) -> Told:
    """Returns the reported figures after a record.

    Args:
        usage: The session so far.
        record: The `usage` record.
        day: The local day of the record (days since 1970).
        model: The model that was used, empty where nothing says.
        begun: The session's start was recorded, and nothing was reported before.
    """
    known = usage.reported
    meters = metered(known.meters, record)
    if is_split(meters) and not is_split(known.meters):
        known = _without_tokens(known)  # those that nobody had split are told by their kinds now
    cost, tokens = sums(meters)
    more = Spent(
        day=day,
        agent=usage.agent,
        model=model or (usage.models[-1] if usage.models else ""),
        cost=None if cost is None else max(0, cost - (known.cost or 0)),
        tokens=None if tokens is None else tokens.beyond(known.tokens or Tokens()),
        source="unknown" if cost is None else "reported",
    )
    return Told(
        cost=known.cost if cost is None else max(cost, known.cost or 0),
        tokens=known.tokens if tokens is None else tokens.maximum(known.tokens or Tokens()),
        spent=_with(known.spent, more),
        meters=meters,
        from_start=known.from_start or (begun and known.cost is None),
        partial=known.partial or counts_in(record.data) == "newest",
    )


def _without_tokens(reported: Told) -> Told:
    spent = (msgspec.structs.replace(each, tokens=None) for each in reported.spent)
    priced = tuple(each for each in spent if each.cost is not None)
    return msgspec.structs.replace(reported, tokens=None, spent=priced)


def _with(spent: tuple[Spent, ...], more: Spent) -> tuple[Spent, ...]:
    """Returns a session's parts with some more; the oldest are dropped."""
    if more.cost is None and more.tokens is None:
        return spent
    same_day = {each.model for each in spent if each.day == more.day}
    if more.model not in same_day and len(same_day) >= DAY_MODELS - 1:
        more = msgspec.structs.replace(more, model=OTHERS)
    for place, each in enumerate(spent):
        if (each.day, each.model) == (more.day, more.model):
            return (*spent[:place], added(each, more), *spent[place + 1 :])
    return tuple(sorted((*spent, more), key=lambda each: each.day))[-DAY_MODELS * DAYS_KEPT :]


def _context(data: dict[str, Any]) -> dict[str, int]:
    """Returns size and use of the context window, as far as the record reports them."""
    context = {name: count(data.get(name)) for name in ("context_used", "context_size")}
    return {name: each for name, each in context.items() if each is not None}
