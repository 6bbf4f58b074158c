"""The rates of one model, in whole pico-dollars, and the cost of one call by them.

- The cost of one call by the price table, and if that leaves something out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from watchgate.core.usage.usage_calls import UsageCall


class Rates(msgspec.Struct, frozen=True, gc=False):
    """Pico-dollars per token, per web search (None: there is no price for one) and per call.

    `reasoning` is the price of the part of the output that was reasoning; None: that of `output`.
    """

    input: int
    output: int
    cache_read: int
    cache_5m: int
    cache_1h: int
    web_search: int | None = None
    reasoning: int | None = None
    per_call: int = 0


class Tariff(msgspec.Struct, frozen=True):
    """The rates of a model: those of the last tier whose `over` the tokens read are more than.

    A call is charged by one tier as a whole.
    """

    tiers: tuple[tuple[int, Rates], ...]

    def rates(self, read: int) -> Rates:
        """Returns the rates of a call that read so many tokens."""
        tier_rates = self.tiers[0][1]
        for over, rates in self.tiers[1:]:
            if read <= over:
                break
            tier_rates = rates
        return tier_rates


QUARTER_US = 15 * 60 * 1_000_000
"""No local day and no tariff begins within a quarter of an hour: a ledger asks once for each."""

TariffOf = Callable[[UsageCall], Tariff | None]
"""The tariff of a call at its time, by its provider, model and context; None: no table has it.

It is the same for all calls of a quarter of an hour that have these in common.
"""


def cost(call: UsageCall, tariff: Tariff) -> int:
    """Returns the cost of a call, in pico-dollars."""
    tiers = tariff.tiers
    # Hot, and most tariffs have one tier.
    rates = tiers[0][1] if len(tiers) == 1 else tariff.rates(call.read)
    pico = (
        call.input * rates.input
        + call.output * rates.output
        + call.cache_read * rates.cache_read
        + call.cache_5m * rates.cache_5m
        + call.cache_1h * rates.cache_1h
        + rates.per_call
    )
    if rates.reasoning is not None:
        pico += call.reasoning * (rates.reasoning - rates.output)
    if call.web_searches and rates.web_search:
        pico += call.web_searches * rates.web_search
    return pico


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
    if tariff is None or not (call.web_searches or call.writes_in_input):
        return False
    rates = tariff.rates(call.read)
    if call.web_searches and rates.web_search is None:
        return True
    return call.writes_in_input and call.input > 0 and rates.cache_5m > rates.input
