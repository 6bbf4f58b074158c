"""What agents and their streams tell of a session: the fold of `usage` records of one session."""

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


def heard(seen: SessionUsage, record: Record, *, day: int, model: str, begun: bool) -> SessionUsage:
    """The session after a `usage` record; `model` is the one it was last known to use.

    `begun`: the session was heard to begin, and told nothing before. What it adds is the last of
    `told.spent`'s growth; `SessionUsage.spent` and the figures are chosen afterwards.
    """
    data = record.data
    named = data.get("model")
    model = (named if isinstance(named, str) and named else model)[:NAME_CHARS]
    changes: dict[str, Any] = {"at": max(seen.at, record.at)}
    if record.sub is None:
        changes |= _context(data)
    if model and not (record.sub and model in seen.models):
        others = tuple(each for each in seen.models if each != model)[-3:]
        # What a sub-agent uses is not what the session itself used last.
        first = others[:-1] if record.sub else others
        changes["models"] = (*first, model, *others[len(first) :])
    changes["told"] = _more(seen, record, day, model, begun=begun)
    return msgspec.structs.replace(seen, **changes)


def _more(seen: SessionUsage, record: Record, day: int, model: str, *, begun: bool) -> Told:
    known = seen.told
    meters = metered(known.meters, record)
    if is_split(meters) and not is_split(known.meters):
        known = _without_tokens(known)  # those that nobody had split are told by their kinds now
    cost, tokens = sums(meters)
    more = Spent(
        day=day,
        agent=seen.agent,
        model=model or (seen.models[-1] if seen.models else ""),
        cost=None if cost is None else max(0, cost - (known.cost or 0)),
        tokens=None if tokens is None else tokens.beyond(known.tokens or Tokens()),
        source="unknown" if cost is None else "reported",
    )
    return Told(
        cost=known.cost if cost is None else max(cost, known.cost or 0),
        tokens=known.tokens if tokens is None else tokens.most(known.tokens or Tokens()),
        spent=_with(known.spent, more),
        meters=meters,
        from_start=known.from_start or (begun and known.cost is None),
        partial=known.partial or counts_in(record.data) == "newest",
    )


def _without_tokens(told: Told) -> Told:
    spent = (msgspec.structs.replace(each, tokens=None) for each in told.spent)
    kept = tuple(each for each in spent if each.cost is not None)
    return msgspec.structs.replace(told, tokens=None, spent=kept)


def _with(spent: tuple[Spent, ...], more: Spent) -> tuple[Spent, ...]:
    """A session's parts with some more; the oldest go."""
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
    """How full the context is, as far as the record tells."""
    told = {name: count(data.get(name)) for name in ("context_used", "context_size")}
    return {name: each for name, each in told.items() if each is not None}
