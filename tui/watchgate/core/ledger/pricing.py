"""The cost of one call by the price table, and if that leaves something out."""

from __future__ import annotations

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.rates import Tariff, cost


def computed_cost(call: UsageCall, tariff: Tariff | None) -> int | None:
    """Returns the cost in pico-dollars; None: there is no price. A call without usage costs 0."""
    if tariff is not None:
        return cost(call, tariff)
    return None if call.tokens or call.web_searches else 0


def may_cost_more(call: UsageCall, tariff: Tariff | None) -> bool:
    """Returns whether the call may cost more by this tariff than its record shows.

    Its web searches may have no price there, or its cache writes, which nobody counted, one of
    their own.
    """
    if tariff is None or not (call.web_searches or call.writes_untold):
        return False
    rates = tariff.rates(call.read)
    if call.web_searches and rates.web_search is None:
        return True
    return call.writes_untold and call.input > 0 and rates.cache_5m > rates.input
