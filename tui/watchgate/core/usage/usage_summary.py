"""The usage record of a session, built from its ledger: bounded, whatever the session did.

- The rows of one session as its record carries them, in nano-dollars. The table's cost of each kind
  of tokens over some calls.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.model.usage_records import (
    CountedData,
    CountedRow,
    KindCosts,
    Minute,
    Part,
    Source,
)
from watchgate.core.usage.cost_choice import cost_of, source_of
from watchgate.core.usage.ledger_entries import LedgerRow
from watchgate.core.usage.pricing import TariffOf
from watchgate.core.usage.usage_calls import CountedCall, Figures, in_nano


def nano(pico: int | None) -> int | None:
    """Converts pico-dollars to nano-dollars; None stays None."""
    return None if pico is None else in_nano(pico)


def counted_rows(rows: Iterable[LedgerRow]) -> tuple[CountedRow, ...]:
    """Converts rows for a record; each is rounded once."""
    return tuple(_counted(row, row.figures) for row in rows)


def _counted(row: LedgerRow, figures: Figures) -> CountedRow:
    return CountedRow(
        day=row.day,
        model=row.model,
        sub=row.sub,
        calls=figures.calls,
        input=figures.input,
        output=figures.output,
        cache_read=figures.cache_read,
        cache_write=figures.cache_write,
        reasoning=figures.reasoning,
        reported=nano(cost_of(figures, "reported")),
        computed=nano(cost_of(figures, "computed")),
        unreported=figures.unreported,
        unpriced=figures.unpriced,
        is_lower_bound=figures.lower_bounds > 0,
    )


def total_figures(rows: Iterable[LedgerRow]) -> Figures:
    """Adds rows up."""
    figures = Figures()
    for row in rows:
        figures = figures.plus(row.figures)
    return figures


def kind_costs(calls: Iterable[CountedCall], tariff_of: TariffOf) -> KindCosts | None:
    """Adds up the cost of each kind of tokens over all priced calls; None: none has a price."""
    priced = False
    read = written = cached = stored = searched = 0
    for each in calls:
        call, tariff = each.call, tariff_of(each.call)
        if tariff is None:
            continue
        priced = True
        rates = tariff.rates(call.read)
        read += call.input * rates.input
        written += call.output * rates.output + rates.per_call
        if rates.reasoning is not None:
            written += call.reasoning * (rates.reasoning - rates.output)
        cached += call.cache_read * rates.cache_read
        stored += call.cache_5m * rates.cache_5m + call.cache_1h * rates.cache_1h
        searched += call.web_searches * (rates.web_search or 0)
    if not priced:
        return None
    return KindCosts(
        input=in_nano(read),
        output=in_nano(written),
        cache_read=in_nano(cached),
        cache_write=in_nano(stored),
        web_search=in_nano(searched),
    )


MAX_SUBS = 24
"""The sub-agents of a session that are told apart, those that used most."""
OTHER_SUBS = "other sub-agents"
MAX_MODELS = 12
"""The models of a session that are told apart, those that used most."""
OTHER_MODELS = "other models"
MAX_ROWS = 1_000
"""With more rows than this, the sub-agents of a session are told as one."""
MAX_FIGURE = 1 << 53
"""The largest number that JSON holds exactly: more is told as so much, and a lower bound."""
MAX_TURNS = 50
MAX_TOOLS = 200
HOUR_MIN = 60
MINUTE_US = 60_000_000
NAME_CHARS = 80


def summarize_session(
    rows: Iterable[LedgerRow],
    calls: Iterable[CountedCall],
    *,
    first_day: int,
    last_day: int,
    now_us: int,
) -> CountedData:
    """Builds the rows, the newest turns, and the last hour's tool calls and minutes.

    Args:
        rows: The sums of the session.
        calls: The calls of the same session, in any order.
        first_day: The first local day (days since 1970) with its own rows; earlier ones are joined.
        last_day: The last local day; usage that is dated after it counts as of that day.
        now_us: The current time (UTC µs).
    """
    own = list(rows)
    source = source_of(total_figures(own))
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
        rows=_bounded(counted_rows(own), first_day, last_day),
        source=source,
        turns=_newest(turns.values(), MAX_TURNS),
        tools=_newest(tools, MAX_TOOLS),
        minutes=tuple(sorted(minutes.values(), key=lambda each: each.at)),
    )


def _cost(counted: CountedCall, source: Source) -> int | None:
    return nano(counted.call.reported if source == "reported" else counted.computed)


def _part(id: str, at_us: int, counted: CountedCall, cost: int | None) -> Part:
    return Part(
        id=id,
        at=at_us,
        tokens=counted.call.tokens,
        cost=cost,
        is_lower_bound=counted.is_lower_bound,
    )


def _more(known: Part, more: Part) -> Part:
    cost = more.cost if known.cost is None else known.cost + (more.cost or 0)
    return Part(
        id=known.id,
        at=min(known.at, more.at),
        tokens=known.tokens + more.tokens,
        cost=cost,
        calls=known.calls + more.calls,
        is_lower_bound=known.is_lower_bound
        or more.is_lower_bound
        or (known.cost is None) != (more.cost is None),
    )


def _joined(known: Minute, more: Minute) -> Minute:
    cost = more.cost if known.cost is None else known.cost + (more.cost or 0)
    return Minute(at=known.at, cost=cost, tokens=known.tokens + more.tokens)


def _newest(parts: Iterable[Part], limit: int) -> tuple[Part, ...]:
    return tuple(sorted(parts, key=lambda each: (each.at, each.id))[-limit:])


def _bounded(rows: tuple[CountedRow, ...], first_day: int, last_day: int) -> tuple[CountedRow, ...]:
    """Returns rows of known days, no more than so many, with nothing left out of their sums."""
    models = _top_names(rows, "model", MAX_MODELS)
    joined = _joined_rows(rows, first_day, last_day, models, _top_names(rows, "sub", MAX_SUBS))
    if len(joined) > MAX_ROWS:
        joined = _joined_rows(rows, first_day, last_day, models, frozenset({""}))
    return tuple(map(_exact, joined))


def _top_names(rows: Iterable[CountedRow], name: str, limit: int) -> frozenset[str]:
    """Returns the names that used the most tokens, and the empty one."""
    used: dict[str, int] = {}
    for row in rows:
        key = getattr(row, name)
        used[key] = used.get(key, 0) + row.input + row.output + row.cache_read
    named = sorted((each for each in used if each), key=lambda each: (-used[each], each))
    return frozenset({"", *named[:limit]})


def _joined_rows(
    rows: Iterable[CountedRow],
    first_day: int,
    last_day: int,
    models: frozenset[str],
    subs: frozenset[str],
) -> list[CountedRow]:
    """Joins rows: the other models as one, the other sub-agents too, and no other days.

    Args:
        rows: The rows to join.
        first_day: The first local day (days since 1970) that stays by itself.
        last_day: The last local day.
        models: The models that stay by themselves.
        subs: The sub-agents that stay by themselves.
    """
    joined: dict[tuple[int, str, str], CountedRow] = {}
    for each in rows:
        row = msgspec.structs.replace(
            each,
            day=min(max(each.day, first_day - 1), last_day),
            model=each.model[:NAME_CHARS] if each.model in models else OTHER_MODELS,
            sub=each.sub[:NAME_CHARS] if each.sub in subs else OTHER_SUBS,
        )
        place = (row.day, row.model, row.sub)
        joined[place] = _added(joined[place], row) if place in joined else row
    return list(joined.values())


def _exact(row: CountedRow) -> CountedRow:
    """Returns the row with no figure that a reader would have to refuse."""
    over = {
        name: MAX_FIGURE
        for name in (*_SUMS, "reported", "computed")
        if (getattr(row, name) or 0) > MAX_FIGURE
    }
    return msgspec.structs.replace(row, **over, is_lower_bound=True) if over else row


_SUMS = (
    *("calls", "input", "output", "cache_read", "cache_write", "reasoning"),
    *("unreported", "unpriced"),
)


def _added(known: CountedRow, more: CountedRow) -> CountedRow:
    sums = {name: getattr(known, name) + getattr(more, name) for name in _SUMS}
    for name in ("reported", "computed"):
        costs = [cost for row in (known, more) if (cost := getattr(row, name)) is not None]
        sums[name] = sum(costs) if costs else None
    return msgspec.structs.replace(
        known, **sums, is_lower_bound=known.is_lower_bound or more.is_lower_bound
    )
