"""Usage and cost by turn and by call of a model, each by its own figures."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.cli.costs.rows import CostRow
from watchgate.core.ledger.choosing import cost_of, is_least, source_of
from watchgate.core.ledger.figures import CountedCall, Figures
from watchgate.core.ledger.sums import Sums


def turn_rows(calls: Iterable[CountedCall]) -> list[CostRow]:
    """The turns, the oldest first; calls of which no turn is told are one row of their session."""
    turns: dict[tuple[str, str, str], list[CountedCall]] = {}
    for counted in calls:
        owner = counted.owner
        turns.setdefault((counted.agent, owner.session, owner.turn), []).append(counted)
    rows = [
        _part(own, CostRow(by="turn", name=key[2], source="unknown")) for key, own in turns.items()
    ]
    return sorted(rows, key=lambda row: (row.last, *row.key))


def call_rows(calls: Iterable[CountedCall]) -> list[CostRow]:
    """The calls, the oldest first."""
    rows = [
        _part(
            [counted],
            CostRow(by="call", name=counted.call.id, source="unknown", tools=counted.call.tools),
        )
        for counted in calls
    ]
    return sorted(rows, key=lambda row: (row.last, *row.key))


def _part(calls: list[CountedCall], row: CostRow) -> CostRow:
    sums = Sums()
    for counted in calls:
        sums.add(counted)
    figures: Figures = sums.figures()
    source = source_of(figures)
    unpriced = source != "reported" and figures.unpriced > 0
    return msgspec.structs.replace(
        row,
        source=source,
        agent=calls[0].agent,
        session=calls[0].session,
        figures=figures,
        cost=cost_of(figures, source),
        is_lower_bound=unpriced or is_least(figures, source),
        unpriced=tuple(
            sorted({each.call.model for each in calls if unpriced and each.computed is None})
        ),
        models=tuple(sorted({each.call.model for each in calls if each.call.model})),
        last=max(each.owner.at_us for each in calls),
    )
