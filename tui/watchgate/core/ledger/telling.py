"""What a ledger knows of a session as its record carries it: bounded, whatever the session did."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.choosing import source_of
from watchgate.core.ledger.counted import CountedData, CountedRow, Minute, Part, Source
from watchgate.core.ledger.counted_rows import counted_rows, nano, total
from watchgate.core.ledger.figures import CountedCall, LedgerRow

SUBS_TOLD = 24
"""The sub-agents of a session that are told apart, those that used most."""
OTHER_SUBS = "other sub-agents"
TURNS_TOLD = 50
TOOLS_TOLD = 200
HOUR_MIN = 60
MINUTE_US = 60_000_000
NAME_CHARS = 80


def told_of(
    rows: Iterable[LedgerRow], calls: Iterable[CountedCall], *, first_day: int, now_us: int
) -> CountedData:
    """The rows, the newest turns, and the last hour's tool calls and minutes.

    `calls` are those of the same session, in any order. Days before the first one are told as one.
    """
    own = list(rows)
    source = source_of(total(own))
    turns: dict[str, Part] = {}
    tools: list[Part] = []
    minutes: dict[int, Minute] = {}
    hour = now_us // MINUTE_US - HOUR_MIN
    for counted in calls:
        cost = _cost(counted, source)
        call, at = counted.call, counted.owner.at_us
        if turn := counted.owner.turn[:NAME_CHARS]:
            part = _part(turn, at, counted, cost)
            turns[turn] = _more(turns[turn], part) if turn in turns else part
        if at // MINUTE_US > hour:
            shared = len(call.tools)
            for tool in call.tools:
                part = _part(tool[:NAME_CHARS], at, counted, cost)
                tools.append(msgspec.structs.replace(part, shared=shared))
            minute = Minute(at=at // MINUTE_US, cost=cost, tokens=call.input + call.output)
            known = minutes.get(minute.at)
            minutes[minute.at] = _joined(known, minute) if known is not None else minute
    return CountedData(
        rows=_bounded(counted_rows(own), first_day),
        source=source,
        turns=_newest(turns.values(), TURNS_TOLD),
        tools=_newest(tools, TOOLS_TOLD),
        minutes=tuple(sorted(minutes.values(), key=lambda each: each.at)),
    )


def _cost(counted: CountedCall, source: Source) -> int | None:
    return nano(counted.call.reported if source == "reported" else counted.computed)


def _part(id: str, at_us: int, counted: CountedCall, cost: int | None) -> Part:
    return Part(id=id, at=at_us, tokens=counted.call.tokens, cost=cost, least=counted.least)


def _more(known: Part, more: Part) -> Part:
    cost = more.cost if known.cost is None else known.cost + (more.cost or 0)
    return Part(
        id=known.id,
        at=min(known.at, more.at),
        tokens=known.tokens + more.tokens,
        cost=cost,
        calls=known.calls + more.calls,
        least=known.least or more.least or (known.cost is None) != (more.cost is None),
    )


def _joined(known: Minute, more: Minute) -> Minute:
    cost = more.cost if known.cost is None else known.cost + (more.cost or 0)
    return Minute(at=known.at, cost=cost, tokens=known.tokens + more.tokens)


def _newest(parts: Iterable[Part], most: int) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda each: (each.at, each.id))[-most:])


def _bounded(rows: tuple[CountedRow, ...], first_day: int) -> tuple[CountedRow, ...]:
    """The rows with the smallest sub-agents as one, and with the days before the first as one."""
    used: dict[str, int] = {}
    for row in rows:
        used[row.sub] = used.get(row.sub, 0) + row.input + row.output + row.cache_read
    subs = sorted((sub for sub in used if sub), key=lambda sub: (-used[sub], sub))
    apart = {"", *subs[:SUBS_TOLD]}
    found: dict[tuple[int, str, str], CountedRow] = {}
    for each in rows:
        row = msgspec.structs.replace(
            each,
            day=max(each.day, first_day - 1),
            model=each.model[:NAME_CHARS],
            sub=each.sub[:NAME_CHARS] if each.sub in apart else OTHER_SUBS,
        )
        place = (row.day, row.model, row.sub)
        found[place] = _added(found[place], row) if place in found else row
    return tuple(found.values())


_SUMS = (
    *("calls", "input", "output", "cache_read", "cache_write", "reasoning"),
    *("unreported", "unpriced"),
)


def _added(known: CountedRow, more: CountedRow) -> CountedRow:
    sums = {name: getattr(known, name) + getattr(more, name) for name in _SUMS}
    for name in ("reported", "computed"):
        costs = [cost for row in (known, more) if (cost := getattr(row, name)) is not None]
        sums[name] = sum(costs) if costs else None
    return msgspec.structs.replace(known, **sums, least=known.least or more.least)
