"""Meters of a session's sources: each has one for the session and one for each sub-agent."""

from __future__ import annotations

import msgspec

from watchgate.core.records import Record
from watchgate.core.usage.meter import Meter, Tokens, count, counts_in, nano, tokens_in

METERS_KEPT = 32
UNSPLIT = "total_tokens"
"""The meter of tokens that nobody splits: whichever of its words an agent uses, of the same sum."""
NAME_CHARS = 80

Place = tuple[str, str]


def metered(meters: tuple[Meter, ...], record: Record) -> tuple[Meter, ...]:
    """Returns the meters after a report, the newest at the end."""
    data = record.data
    source, ref = str(data.get("native", ""))[:NAME_CHARS], str(data.get("ref", ""))[:NAME_CHARS]
    tokens, cost = tokens_in(data), nano(data.get("total_cost_usd"))
    known = {(each.source, each.sub): each for each in meters}
    whole = count(data.get("total")) if tokens is None else None
    if whole is not None:
        meter = known.pop((UNSPLIT, ""), Meter(source=UNSPLIT))
        known[UNSPLIT, ""] = meter.with_tokens(Tokens(input=whole), "total", "")
    if cost is not None:
        # A session's cost includes that of its sub-agents, whichever of them it is told with.
        meter = known.pop((source, ""), Meter(source=source))
        known[source, ""] = meter.with_cost(cost)
    if tokens is not None:
        sub = (record.sub or "")[:NAME_CHARS]
        # The meter as it was before the cost: that one may have told of the restart already.
        restarted = any(m.restarted for m in meters if (m.source, m.sub) == (source, sub))
        meter = known.pop((source, sub), Meter(source=source, sub=sub))
        meter = msgspec.structs.replace(meter, restarted=restarted)
        known[source, sub] = meter.with_tokens(tokens, counts_in(data), ref)
    return _limited(known)


def sums(meters: tuple[Meter, ...]) -> tuple[int | None, Tokens | None]:
    """Returns a session's cost and tokens: sources report the same, the largest figure counts."""
    costs = [each.cost for each in meters if each.cost is not None]
    split = is_split(meters)
    by_source: dict[str, Tokens] = {}
    for each in meters:
        if each.tokens is not None and not (split and each.source == UNSPLIT):
            by_source[each.source] = by_source.get(each.source, Tokens()).plus(each.tokens)
    tokens: Tokens | None = None
    for source_tokens in by_source.values():
        tokens = source_tokens if tokens is None else tokens.maximum(source_tokens)
    return max(costs, default=None), tokens


def is_split(meters: tuple[Meter, ...]) -> bool:
    """Returns whether a source reported tokens by kinds: then a sum of all kinds counts no more."""
    return any(each.tokens is not None and each.source != UNSPLIT for each in meters)


def _limited(known: dict[Place, Meter]) -> tuple[Meter, ...]:
    """Limits the meters: the sub-agent that reported longest ago joins its own session.

    A source too many is not read.
    """
    while len(known) > METERS_KEPT:
        over = next((each for each in known.values() if each.sub), None)
        if over is None:
            break
        del known[over.source, over.sub]
        own = known.pop((over.source, ""), Meter(source=over.source))
        known = {(over.source, ""): own.joined(over), **known}
    return tuple(known.values())[:METERS_KEPT]
