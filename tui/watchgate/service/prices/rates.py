"""Turns the prices of a model into whole pico-dollars.

The table names dollars per million tokens as decimals with up to six places, which are whole
pico-dollars per token. The few with more are quotients that a binary float cut short
(0.08333333333 for 1/12); they are rounded to the nearest. Source: genai-prices, `ModelPrice`
and its units, of which the more special one is charged where it has a price of its own, else
the general one.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING

from watchgate.core.config_costs import PriceConfig
from watchgate.core.ledger.call import PICO
from watchgate.core.ledger.rates import Rates, Tariff

if TYPE_CHECKING:
    from genai_prices.types import ModelPrice

MOST_USD = 1_000_000
"""More dollars for a million tokens than this are an error in the table, not a price."""
_PICO_PER_MTOK = PICO // 1_000_000
_PICO_PER_THOUSAND = PICO // 1_000

Tiers = dict[int, int]
"""A rate from each number of tokens read on; 0 is among the keys."""


def tariff(prices: ModelPrice) -> Tariff | None:
    """Builds the tariff of these prices; None where tokens read or written have no price."""
    read = _tiers(prices, "input_mtok", _PICO_PER_MTOK)
    written = _tiers(prices, "output_mtok", _PICO_PER_MTOK)
    if read is None or written is None:
        return None
    cache_write = _tiers(prices, "cache_write_mtok", _PICO_PER_MTOK) or read
    each = {
        "input": read,
        "output": written,
        "cache_read": _tiers(prices, "cache_read_mtok", _PICO_PER_MTOK) or read,
        "cache_5m": _tiers(prices, "cache_write_5m_mtok", _PICO_PER_MTOK) or cache_write,
        "cache_1h": _tiers(prices, "cache_write_1h_mtok", _PICO_PER_MTOK) or cache_write,
    }
    searches = _tiers(prices, "web_searches_kcount", _PICO_PER_THOUSAND)
    if searches is not None:
        each["web_search"] = searches
    thinking = _tiers(prices, "output_reasoning_mtok", _PICO_PER_MTOK)
    if thinking is not None:
        each["reasoning"] = thinking
    requests = _tiers(prices, "requests_kcount", _PICO_PER_THOUSAND)
    if requests is not None:
        each["per_call"] = requests
    starts = sorted({start for tiers in each.values() for start in tiers})
    return Tariff(
        tuple(
            (start, Rates(**{name: _at(tiers, start) for name, tiers in each.items()}))
            for start in starts
        )
    )


def own_tariff(price: PriceConfig) -> Tariff:
    """Builds the tariff of a price of the user's own."""
    read = _own(price.input, _PICO_PER_MTOK)

    def cache(usd: float | None) -> int:
        return read if usd is None else _own(usd, _PICO_PER_MTOK)

    search = price.web_search
    rates = Rates(
        input=read,
        output=_own(price.output, _PICO_PER_MTOK),
        cache_read=cache(price.cache_read),
        cache_5m=cache(price.cache_write_5m),
        cache_1h=cache(price.cache_write_1h),
        web_search=None if search is None else _own(search, _PICO_PER_THOUSAND),
    )
    return Tariff(((0, rates),))


def dearer(tariff: Tariff, times: int, of: int) -> Tariff:
    """Multiplies a tariff's rates for tokens by so many parts of so many, rounded up.

    A fee per search or call stays: the surcharge for a region is one on tokens.
    """

    def more(rate: int) -> int:
        return -(-rate * times // of)

    return Tariff(
        tuple(
            (
                over,
                Rates(
                    input=more(rates.input),
                    output=more(rates.output),
                    cache_read=more(rates.cache_read),
                    cache_5m=more(rates.cache_5m),
                    cache_1h=more(rates.cache_1h),
                    web_search=rates.web_search,
                    reasoning=None if rates.reasoning is None else more(rates.reasoning),
                    per_call=rates.per_call,
                ),
            )
            for over, rates in tariff.tiers
        )
    )


def _own(usd: float, pico: int) -> int:
    # By its decimal notation: 0.1 is a tenth, not the binary fraction next to it.
    return _whole(Decimal(repr(usd)) * pico)


def _tiers(prices: ModelPrice, key: str, pico: int) -> Tiers | None:
    price = prices.__dict__.get(key)
    if price is None:
        return None
    if isinstance(price, Decimal):
        return {0: _rate(price, pico)}
    rates = {0: _rate(price.base, pico)}
    for tier in price.tiers:
        rates[int(tier.start)] = _rate(tier.price, pico)
    return rates


def _rate(price: Decimal, pico: int) -> int:
    if not price.is_finite() or not 0 <= price <= MOST_USD:
        raise ValueError(f"{price} dollars are no price")
    return _whole(price * pico)


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_EVEN))


def _at(tiers: Tiers, start: int) -> int:
    return tiers[max(each for each in tiers if each <= start)]
