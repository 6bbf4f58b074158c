"""The prices of a model at any time: the days at which they change, and the times of a day.

All of a model's dates and hours are resolved at once, so that one answer holds for every call;
an hour that begins within a quarter of an hour counts from the nearest one (see
`rates.QUARTER_US`). Source: genai-prices, where a price counts from a start date (UTC) or
between two times of the day, and which of them holds at a moment `ModelInfo.get_prices` says.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from watchgate.core.ledger.rates import QUARTER_US, Tariff
from watchgate.service.prices.rates import dearer, tariff

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo

DAY_US = 86_400_000_000
_EPOCH = date(1970, 1, 1)
_US = timedelta(microseconds=1)

Hours = tuple[tuple[int, Tariff | None], ...]
"""What holds from each time of the day (UTC µs, the first 0) until the next."""


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
