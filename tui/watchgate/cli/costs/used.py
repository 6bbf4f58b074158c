"""What every session used, with the one cost that is shown of it: the rows of all views.

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
    """What one model used on one local day for one session or one of its sub-agents.

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
    least: bool = False
    unpriced: bool = False


def used(
    rows: Iterable[LedgerRow],
    told: Mapping[Key, Told],
    *,
    within: Iterable[LedgerRow] | None = None,
    first_day: int = 0,
) -> list[Used]:
    """What sessions used by the rows of the ledger and by what agents told beside them.

    With `within` only these rows are shown, and of what agents told the days from the first one on;
    whose figure a session's cost is still follows from all of it.
    """
    by_session: dict[Key, list[LedgerRow]] = defaultdict(list)
    for row in rows:
        by_session[row.agent, row.session].append(row)
    sources = {key: _source(own, told.get(key)) for key, own in by_session.items()}
    shown = [row for own in by_session.values() for row in own] if within is None else within
    found = [_of_row(row, *sources[row.agent, row.session]) for row in shown]
    for key, one in told.items():
        if key not in sources:
            found += _of_told(key, one, tokens=True)
        elif sources[key][1]:
            found += _of_told(key, one, tokens=False)
    return [each for each in found if each.day >= first_day]


def _source(rows: Iterable[LedgerRow], told: Told | None) -> tuple[Source, bool]:
    """Whose figure a session's cost is, and whether it is the sum that the agent told."""
    figures = total(rows)
    source = source_of(figures)
    if told is None or told.cost is None:
        return source, False
    if cost_of(figures, source) is None:
        # Nothing for calls: no cost was told of them.
        return ("reported", True) if told.cost else (source, False)
    if told.from_start and covers(told.cost * PICO_PER_NANO, cost_of(figures, "computed")):
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
        least=not in_one_sum and is_least(figures, source),
        unpriced=source != "reported" and figures.unpriced > 0,
    )


def _of_told(key: Key, told: Told, *, tokens: bool) -> list[Used]:
    """What an agent told of a session; without `tokens` its cost alone."""
    return [
        Used(
            agent=key[0],
            session=key[1],
            day=each.day,
            model=each.model,
            source="reported" if told.cost is not None else "unknown",
            figures=_figures(each) if tokens else Figures(),
            cost=None if each.cost is None else each.cost * PICO_PER_NANO,
            least=told.cost is not None and not told.from_start,
            unpriced=told.cost is None,
        )
        for each in told.spent
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
