"""The prices of a model at any time: the days at which they change, and the times of a day.

All of a model's dates and hours are resolved at once, so that one answer holds for every call;
an hour that begins within a quarter of an hour counts from the nearest one (see
`pricing.QUARTER_US`). Source: genai-prices, where a price counts from a start date (UTC) or
between two times of the day, and which of them holds at a moment `ModelInfo.get_prices` says.

- Turns the prices of a model into whole pico-dollars. The table names dollars per million tokens as
  decimals with up to six places, which are whole pico-dollars per token. The few with more are
  quotients that a binary float cut short (0.08333333333 for 1/12); they are rounded to the nearest.
  Source: genai-prices, `ModelPrice` and its units, of which the more special one is charged where
  it has a price of its own, else the general one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.core.config.config_sections import PriceConfig
from watchgate.core.usage.pricing import QUARTER_US, Rates, Tariff
from watchgate.core.usage.usage_calls import PICO

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, ModelPrice


MAX_USD = 1_000_000
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
    if not price.is_finite() or not 0 <= price <= MAX_USD:
        raise ValueError(f"{price} dollars are no price")
    return _whole(price * pico)


def _whole(value: Decimal) -> int:
    return int(value.to_integral_value(ROUND_HALF_EVEN))


def _at(tiers: Tiers, start: int) -> int:
    return tiers[max(each for each in tiers if each <= start)]


DAY_US = 86_400_000_000
_EPOCH = date(1970, 1, 1)
_US = timedelta(microseconds=1)

Hours = tuple[tuple[int, Tariff | None], ...]
"""Tariffs, each of which holds from a time of the day (UTC µs, the first 0) until the next."""


class Schedule(msgspec.Struct, frozen=True, array_like=True):
    """A model's tariffs by day (since 1970, the first 0), each valid until the next."""

    days: tuple[tuple[int, Hours], ...]

    def at(self, at_us: int) -> Tariff | None:
        """Returns the tariff at this time (UTC µs); None: there is no price then."""
        day, of_day_us = divmod(max(at_us, 0), DAY_US)
        hours = self.days[bisect_right(self.days, day, key=_start) - 1][1]
        return hours[bisect_right(hours, of_day_us, key=_start) - 1][1]


def _start(entry: tuple[int, object]) -> int:
    return entry[0]


def schedule(
    model: ModelInfo, context: Mapping[str, str], surcharge: tuple[int, int] | None = None
) -> Schedule:
    """Resolves all that the model charges in this context, times a surcharge as a fraction.

    Raises `ValueError` for a price that cannot be one.
    """
    days, times = {0}, {0}
    for constraint in _constraints(model):
        start = getattr(constraint, "start_date", None)
        if start is not None:
            days.add(max((start - _EPOCH).days, 0))
        else:
            times |= {_of_day_us(constraint.start_time), _of_day_us(constraint.end_time)}
    hours = _quarters(times)

    def holds(day: int, of_day_us: int) -> Tariff | None:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day, microseconds=of_day_us)
        tariff_then = tariff(model.get_prices(at, context or None))
        return dearer(tariff_then, *surcharge) if tariff_then and surcharge else tariff_then

    return Schedule(
        tuple(
            (day, tuple((begins, holds(day, time_us)) for begins, time_us in hours.items()))
            for day in sorted(days)
        )
    )


def _constraints(model: ModelInfo) -> list[Any]:
    constraints = (
        [each.constraint for each in model.prices] if isinstance(model.prices, list) else []
    )
    constraints += [each.constraint for each in model.price_variants or ()]
    return [each for each in constraints if each is not None]


def _of_day_us(at: time) -> int:
    aware = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    moment = datetime.combine(_EPOCH + timedelta(days=1), aware).astimezone(UTC)
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // _US % DAY_US


def _quarters(times: set[int]) -> dict[int, int]:
    """Returns the quarters of an hour nearest to these times, the last time of each, in order.

    What is nearest to the next midnight is left out: from then on holds what holds at 0.
    """
    nearest = {(each + QUARTER_US // 2) // QUARTER_US * QUARTER_US: each for each in sorted(times)}
    return {quarter: each for quarter, each in nearest.items() if quarter < DAY_US}
