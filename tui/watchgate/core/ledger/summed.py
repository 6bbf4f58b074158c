"""The sums of some calls alone, in the rows that a ledger has."""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.ledger.figures import CountedCall, LedgerRow
from watchgate.core.ledger.sums import Sums


def rows_of(calls: Iterable[CountedCall]) -> list[LedgerRow]:
    """Adds calls up, in the order of `Ledger.rows`."""
    sums: dict[tuple[str, str, str, int, str], Sums] = {}
    for counted in calls:
        row = counted.agent, counted.session, counted.sub, counted.day, counted.call.model
        sums.setdefault(row, Sums()).add(counted)
    return [LedgerRow(*row, sums[row].figures()) for row in sorted(sums)]
