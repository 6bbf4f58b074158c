"""The fold of `usage` records, which agents and their streams report of one session.

- Meters of a session's sources: each has one for the session and one for each sub-agent.
- The fold of `usage.counted`: the newest sum over a session's files replaces all before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.model.records import Record
from watchgate.core.model.usage_records import CountedData, CountedRow, Part
from watchgate.core.usage.session_usage import (
    DAY_MODELS,
    MAX_DAYS,
    OTHERS,
    CountedUsage,
    Meter,
    ReportedUsage,
    SessionUsage,
    Spent,
    Tokens,
    count,
    counts_in,
    joined_parts,
    nano,
    tokens_in,
)

MAX_METERS = 32
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


def metered_sums(meters: tuple[Meter, ...]) -> tuple[int | None, Tokens | None]:
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
    while len(known) > MAX_METERS:
        over = next((each for each in known.values() if each.sub), None)
        if over is None:
            break
        del known[over.source, over.sub]
        own = known.pop((over.source, ""), Meter(source=over.source))
        known = {(over.source, ""): own.joined(over), **known}
    return tuple(known.values())[:MAX_METERS]


MAX_ROWS = 1_000
MAX_TURNS = 50
MAX_MODELS = 4
CWD_CHARS = 1_000
_MAX_COUNT = 1 << 53


def with_file_sums(usage: SessionUsage, data: CountedData, at_us: int) -> SessionUsage:
    """Returns the session after that record; its figures are chosen afterwards."""
    rows = tuple(_named(row) for row in data.rows[:MAX_ROWS] if _sane(row))
    changes: dict[str, Any] = {
        "at": max(usage.at, at_us),
        "counted": CountedUsage(rows=rows, source=data.source),
        "kinds": data.kinds,
        "unreadable": data.unreadable,
        "models": _models(usage.models, rows),
        "cwd": data.cwd[:CWD_CHARS] or usage.cwd,
        "label": usage.label or data.label[:NAME_CHARS],
    }
    if data.turns:
        changes["turns"] = _turns(usage.turns, data.turns)
    if data.context_used is not None:
        changes["context_used"] = data.context_used
    if data.context_size is not None:
        changes["context_size"] = data.context_size
    return msgspec.structs.replace(usage, **changes)


def tokens_of(row: CountedRow) -> Tokens:
    """Returns the tokens of a row."""
    return Tokens(row.input, row.output, row.cache_read, row.cache_write, row.reasoning)


def _sane(row: CountedRow) -> bool:
    """Returns whether all its numbers are counts; a changed journal may hold anything."""
    numbers = (each for each in msgspec.structs.astuple(row) if isinstance(each, int))
    return all(0 <= each <= _MAX_COUNT for each in numbers)


def _named(row: CountedRow) -> CountedRow:
    if len(row.model) <= NAME_CHARS and len(row.sub) <= NAME_CHARS:
        return row
    return msgspec.structs.replace(row, model=row.model[:NAME_CHARS], sub=row.sub[:NAME_CHARS])


def _models(known: tuple[str, ...], rows: Iterable[CountedRow]) -> tuple[str, ...]:
    """Returns the models that were used, those of the session itself and of later days last."""
    newest: dict[str, tuple[bool, int, int]] = {}
    for row in rows:
        place = (not row.sub, row.day, row.calls)
        if row.model and place > newest.get(row.model, (False, -1, 0)):
            newest[row.model] = place
    ordered = sorted(newest, key=newest.__getitem__)
    if known and set(ordered) <= set(known):
        return known  # in the order in which the agent told of them
    return tuple(ordered)[-MAX_MODELS:] or known


def _turns(known: tuple[Part, ...], changed: tuple[Part, ...]) -> tuple[Part, ...]:
    by_id = {each.id: each for each in known} | {each.id: each for each in changed}
    return tuple(sorted(by_id.values(), key=lambda each: (each.at, each.id)))[-MAX_TURNS:]


def with_report(
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
    changes["reported"] = _more(usage, record, day, model, begun=begun)
    return msgspec.structs.replace(usage, **changes)


def _more(
    usage: SessionUsage, record: Record, day: int, model: str, *, begun: bool
) -> ReportedUsage:
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
    cost, tokens = metered_sums(meters)
    more = Spent(
        day=day,
        agent=usage.agent,
        model=model or (usage.models[-1] if usage.models else ""),
        cost=None if cost is None else max(0, cost - (known.cost or 0)),
        tokens=None if tokens is None else tokens.beyond(known.tokens or Tokens()),
        source="unknown" if cost is None else "reported",
    )
    return ReportedUsage(
        cost=known.cost if cost is None else max(cost, known.cost or 0),
        tokens=known.tokens if tokens is None else tokens.maximum(known.tokens or Tokens()),
        spent=_with_part(known.spent, more),
        meters=meters,
        from_start=known.from_start or (begun and known.cost is None),
        partial=known.partial or counts_in(record.data) == "newest",
    )


def _without_tokens(reported: ReportedUsage) -> ReportedUsage:
    spent = (msgspec.structs.replace(each, tokens=None) for each in reported.spent)
    priced = tuple(each for each in spent if each.cost is not None)
    return msgspec.structs.replace(reported, tokens=None, spent=priced)


def _with_part(spent: tuple[Spent, ...], more: Spent) -> tuple[Spent, ...]:
    """Returns a session's parts with some more; the oldest are dropped."""
    if more.cost is None and more.tokens is None:
        return spent
    same_day = {each.model for each in spent if each.day == more.day}
    if more.model not in same_day and len(same_day) >= DAY_MODELS - 1:
        more = msgspec.structs.replace(more, model=OTHERS)
    for place, each in enumerate(spent):
        if (each.day, each.model) == (more.day, more.model):
            return (*spent[:place], joined_parts(each, more), *spent[place + 1 :])
    return tuple(sorted((*spent, more), key=lambda each: each.day))[-DAY_MODELS * MAX_DAYS :]


def _context(data: dict[str, Any]) -> dict[str, int]:
    """Returns size and use of the context window, as far as the record reports them."""
    context = {name: count(data.get(name)) for name in ("context_used", "context_size")}
    return {name: each for name, each in context.items() if each is not None}
