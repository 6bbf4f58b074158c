"""Usage and cost by agent, session, model or day: rows that mix no two sources of a cost.

- Usage of every session, with the one cost that is shown of it: the rows of all views. A session
  shows what its agent told of its cost, where it did so from the start and its files are not far
  ahead of that; else what its calls add up to, in the agent's own figures or by the table of
  prices. Never a sum of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, Literal

import msgspec

from watchgate.core.model.usage_records import Source
from watchgate.core.usage.cost_choice import cost_is_lower_bound, cost_of, covers, source_of
from watchgate.core.usage.ledger_entries import LedgerRow
from watchgate.core.usage.session_usage import Key, ReportedUsage, Spent
from watchgate.core.usage.usage_calls import PICO, PICO_PER_NANO, Figures
from watchgate.core.usage.usage_summary import total_figures


class ModelUsage(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The usage of one model on one local day for one session or one of its sub-agents.

    `cost` is in pico-dollars, None where nobody knows it, or (`source` is `reported`) where the
    agent told one sum for the whole session, which then stands in a row of its own. `source` is
    that of the session. `unpriced`: some of the calls have no price.
    """

    agent: str
    session: str
    day: int
    model: str = ""
    sub: str = ""
    source: Source = "unknown"
    figures: Figures = Figures()
    cost: int | None = None
    is_lower_bound: bool = False
    unpriced: bool = False


def used(
    rows: Iterable[LedgerRow],
    reported: Mapping[Key, ReportedUsage],
    *,
    within: Iterable[LedgerRow] | None = None,
    first_day: int = 0,
) -> list[ModelUsage]:
    """Returns the usage of sessions by the rows of the ledger and by what agents reported.

    With `within` only these rows are shown, and of what agents told the days from the first one on;
    whose figure a session's cost is still follows from all of it.
    """
    by_session: dict[Key, list[LedgerRow]] = defaultdict(list)
    for row in rows:
        by_session[row.agent, row.session].append(row)
    sources = {key: _source(own, reported.get(key)) for key, own in by_session.items()}
    shown = [row for own in by_session.values() for row in own] if within is None else within
    usages = [_of_row(row, *sources[row.agent, row.session]) for row in shown]
    for key, one in reported.items():
        if key not in sources:
            usages += _of_reported(key, one, tokens=True)
        elif sources[key][1]:
            usages += _of_reported(key, one, tokens=False)
    return [each for each in usages if each.day >= first_day]


def _source(rows: Iterable[LedgerRow], reported: ReportedUsage | None) -> tuple[Source, bool]:
    """Chooses the source of a session's cost, and whether it is the sum that the agent reported."""
    figures = total_figures(rows)
    source = source_of(figures)
    if reported is None or reported.cost is None:
        return source, False
    if cost_of(figures, source) is None:
        # Nothing for calls: no cost was told of them.
        return ("reported", True) if reported.cost else (source, False)
    if reported.from_start and covers(reported.cost * PICO_PER_NANO, cost_of(figures, "computed")):
        return "reported", True
    return source, False


def _of_row(row: LedgerRow, source: Source, in_one_sum: bool) -> ModelUsage:
    figures = row.figures
    return ModelUsage(
        agent=row.agent,
        session=row.session,
        day=row.day,
        model=row.model,
        sub=row.sub,
        source=source,
        figures=figures,
        cost=None if in_one_sum else cost_of(figures, source),
        is_lower_bound=not in_one_sum and cost_is_lower_bound(figures, source),
        unpriced=source != "reported" and figures.unpriced > 0,
    )


def _of_reported(key: Key, reported: ReportedUsage, *, tokens: bool) -> list[ModelUsage]:
    """Returns the usage that an agent reported of a session; without `tokens` its cost alone."""
    return [
        ModelUsage(
            agent=key[0],
            session=key[1],
            day=each.day,
            model=each.model,
            source="reported" if reported.cost is not None else "unknown",
            figures=_figures(each) if tokens else Figures(),
            cost=None if each.cost is None else each.cost * PICO_PER_NANO,
            is_lower_bound=reported.cost is not None and not reported.from_start,
            unpriced=reported.cost is None,
        )
        for each in reported.spent
        if tokens or each.cost is not None
    ]


def _figures(spent: Spent) -> Figures:
    if spent.tokens is None:
        return Figures()
    return Figures(
        input=spent.tokens.input,
        output=spent.tokens.output,
        cache_read=spent.tokens.cache_read,
        cache_5m=spent.tokens.cache_write,
    )


By = Literal["session", "model", "day", "agent", "turn", "call"]
_EPOCH = date(1970, 1, 1).toordinal()


class UsageSum(msgspec.Struct, frozen=True, kw_only=True):
    """The usage of a session, a model, a day, an agent, a turn or a call of a model.

    `cost` is in pico-dollars, None where nobody knows it. `is_lower_bound`: it is one, as the cost
    of models that are `unpriced` is missing, or calls are. `last` is the newest local day, or the
    moment (UTC µs) of a turn or call.
    """

    by: By
    name: str
    source: Source
    agent: str = ""
    session: str = ""
    figures: Figures = Figures()
    cost: int | None = None
    is_lower_bound: bool = False
    unpriced: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    last: int = 0
    unreadable: int = 0
    cwd: str = ""
    subs: tuple[UsageSum, ...] = ()
    tools: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """Returns the key that tells the row from all others of the same view."""
        return self.agent, self.session, self.name, self.source


def named(used: ModelUsage, by: By) -> tuple[str, str, str]:
    """The row of a view that this belongs to: name, agent and session."""
    if by == "session":
        return used.session, used.agent, used.session
    if by == "model":
        return used.model, "", ""
    if by == "day":
        return day_text(used.day), "", ""
    return used.agent, used.agent, ""


def grouped(parts: Iterable[ModelUsage], by: By) -> list[UsageSum]:
    """One row for each name and source, in the order in which they are best read."""
    groups: dict[tuple[tuple[str, str, str], Source], list[ModelUsage]] = {}
    for each in parts:
        groups.setdefault((named(each, by), each.source), []).append(each)
    rows: dict[tuple[str, ...], UsageSum] = {}
    for ((name, agent, session), source), own in groups.items():
        row = _row(own, UsageSum(by=by, name=name, source=source, agent=agent, session=session))
        # Models without a price are in the session's own source; by themselves they have none.
        rows[row.key] = joined(rows[row.key], row) if row.key in rows else row
    return sorted(rows.values(), key=_order)


def sub_rows(parts: Iterable[ModelUsage]) -> tuple[UsageSum, ...]:
    """The sub-agents of one session."""
    groups: dict[str, list[ModelUsage]] = {}
    for each in parts:
        if each.sub:
            groups.setdefault(each.sub, []).append(each)
    return tuple(
        _row(own, UsageSum(by="session", name=sub, source=own[0].source, agent=own[0].agent))
        for sub, own in sorted(groups.items())
    )


def _row(parts: list[ModelUsage], row: UsageSum) -> UsageSum:
    figures = Figures()
    for each in parts:
        figures = figures.plus(each.figures)
    known = [each.cost for each in parts if each.cost is not None]
    return msgspec.structs.replace(
        row,
        source=row.source if known or row.source == "reported" else "unknown",
        figures=figures,
        cost=sum(known) if known else None,
        is_lower_bound=any(each.is_lower_bound or each.unpriced for each in parts),
        unpriced=distinct(each.model for each in parts if each.unpriced),
        models=distinct(each.model for each in parts if each.model),
        last=max(each.day for each in parts),
        subs=sub_rows(parts) if row.by == "session" and row.session else (),
    )


def joined(row: UsageSum, other: UsageSum) -> UsageSum:
    """Two rows of one name and source as one."""
    known = [each.cost for each in (row, other) if each.cost is not None]
    return msgspec.structs.replace(
        row,
        figures=row.figures.plus(other.figures),
        cost=sum(known) if known else None,
        is_lower_bound=row.is_lower_bound or other.is_lower_bound,
        unpriced=distinct((*row.unpriced, *other.unpriced)),
        models=distinct((*row.models, *other.models)),
        last=max(row.last, other.last),
        unreadable=row.unreadable + other.unreadable,
        subs=row.subs + other.subs,
    )


def totals(rows: Iterable[UsageSum]) -> list[UsageSum]:
    """The sum of each source; they stay apart, as reported and computed costs are not added."""
    by_source: dict[Source, UsageSum] = {}
    for row in rows:
        plain = msgspec.structs.replace(row, name="total", agent="", session="", subs=())
        before = by_source.get(row.source)
        by_source[row.source] = plain if before is None else joined(before, plain)
    order: tuple[Source, ...] = ("reported", "computed", "unknown")
    return [by_source[source] for source in order if source in by_source]


def day_text(day: int) -> str:
    """A local day in the form of ISO 8601."""
    try:
        return date.fromordinal(_EPOCH + day).isoformat()
    except (ValueError, OverflowError):
        return str(day)


def distinct(names: Iterable[str]) -> tuple[str, ...]:
    """Each of the names once, in order."""
    return tuple(sorted(set(names)))


def _order(row: UsageSum) -> tuple[Any, ...]:
    # Sessions as they went on, the newest last; a model or an agent by its name.
    return (row.last if row.by in {"session", "turn", "call"} else 0, row.agent, *row.key)


def usd(pico: int | None) -> float | None:
    """Pico-dollars in dollars, for a line of JSON."""
    return None if pico is None else pico / PICO
