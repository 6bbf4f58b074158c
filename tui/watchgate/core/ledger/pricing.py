"""What one call costs by the table, and whether that leaves something out."""

from __future__ import annotations

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.rates import Tariff, cost


def computed_cost(call: UsageCall, tariff: Tariff | None) -> int | None:
    """The cost in pico-dollars; None: there is no price. What used nothing costs nothing."""
    if tariff is not None:
        return cost(call, tariff)
    return None if call.tokens or call.web_searches else 0


def lacks_a_fee(call: UsageCall, tariff: Tariff | None) -> bool:
    """Whether the cost by this tariff leaves out web searches for want of a price for them."""
    if tariff is None or not call.web_searches:
        return False
    return tariff.rates(call.read).web_search is None
