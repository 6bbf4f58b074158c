"""Reads all transcripts of this disk once, the newest first, and adds up what sessions cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence

from watchgate.agents.usage.base import Place
from watchgate.core.ledger.call import in_nano
from watchgate.core.ledger.choosing import cost_of as cost_by
from watchgate.core.ledger.choosing import is_least, source_of
from watchgate.core.ledger.counted_rows import total
from watchgate.core.ledger.figures import LedgerRow
from watchgate.core.ledger.ledger import Ledger
from watchgate.core.ledger.summed import rows_of
from watchgate.core.lookback.cost import Cost
from watchgate.service.prices.prices import Prices
from watchgate.service.usage.book import UsageBook


def cost_of(
    places: Sequence[Place], prices: Prices, since_us: int, day_of: Callable[[int], int]
) -> Cost:
    """Sums the costs of all model calls since then; `prices` must keep nothing on the disk.

    Of each session counts the agent's own figure or the computed one, never both. `day_of` gives
    the local day of a moment (UTC µs).
    """
    ledger = Ledger(prices.tariff_of, day_of)
    book = UsageBook(places, ledger, since_us=since_us)
    book.look()
    book.refresh()
    rows = rows_of(each for each in ledger.calls() if each.owner.at_us >= since_us)
    return _added(rows, prices.words() if rows else "")


def _added(rows: list[LedgerRow], words: str) -> Cost:
    sessions: dict[tuple[str, str], list[LedgerRow]] = defaultdict(list)
    for row in rows:
        sessions[row.agent, row.session].append(row)
    pico, priced, is_lower_bound, unpriced = 0, False, False, set()
    for mine in sessions.values():
        figures = total(mine)
        source = source_of(figures)
        cost = cost_by(figures, source)
        if cost is not None:
            pico, priced = pico + cost, True
        if source != "reported":
            unpriced |= {row.model for row in mine if row.figures.unpriced and row.figures.tokens}
        is_lower_bound = is_lower_bound or cost is None or is_least(figures, source)
    return Cost(
        usd_nano=in_nano(pico) if priced else None,
        is_lower_bound=is_lower_bound and priced,
        calls=sum(row.figures.calls for row in rows),
        tokens=sum(row.figures.tokens for row in rows),
        unpriced=tuple(sorted(unpriced)),
        prices=words,
    )
