"""Usage of every session, with the one cost that is shown of it: the rows of all views.

A session shows what its agent told of its cost, where it did so from the start and its files are
not far ahead of that; else what its calls add up to, in the agent's own figures or by the table of
prices. Never a sum of both.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from watchgate.core.ledger.call import PICO_PER_NANO
from watchgate.core.ledger.choosing import cost_of, covers, is_least, source_of
from watchgate.core.ledger.counted import Source
from watchgate.core.ledger.counted_rows import total
from watchgate.core.ledger.figures import Figures, LedgerRow
from watchgate.core.usage.session import Key, Spent, Told


class Used(msgspec.Struct, frozen=True, gc=False, kw_only=True):
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
    reported: Mapping[Key, Told],
    *,
    within: Iterable[LedgerRow] | None = None,
    first_day: int = 0,
) -> list[Used]:
    """Return the usage of sessions by the rows of the ledger and by what agents reported.

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
            usages += _of_told(key, one, tokens=True)
        elif sources[key][1]:
            usages += _of_told(key, one, tokens=False)
    return [each for each in usages if each.day >= first_day]


def _source(rows: Iterable[LedgerRow], reported: Told | None) -> tuple[Source, bool]:
    """Choose the source of a session's cost, and whether it is the sum that the agent reported."""
    figures = total(rows)
    source = source_of(figures)
    if reported is None or reported.cost is None:
        return source, False
    if cost_of(figures, source) is None:
        # Nothing for calls: no cost was told of them.
        return ("reported", True) if reported.cost else (source, False)
    if reported.from_start and covers(reported.cost * PICO_PER_NANO, cost_of(figures, "computed")):
        return "reported", True
    return source, False


def _of_row(row: LedgerRow, source: Source, in_one_sum: bool) -> Used:
    figures = row.figures
    return Used(
        agent=row.agent,
        session=row.session,
        day=row.day,
        model=row.model,
        sub=row.sub,
        source=source,
        figures=figures,
        cost=None if in_one_sum else cost_of(figures, source),
        is_lower_bound=not in_one_sum and is_least(figures, source),
        unpriced=source != "reported" and figures.unpriced > 0,
    )


def _of_told(key: Key, reported: Told, *, tokens: bool) -> list[Used]:
    """Return the usage that an agent reported of a session; without `tokens` its cost alone."""
    return [
        Used(
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
