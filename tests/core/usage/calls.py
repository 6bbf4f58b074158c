"""Calls, prices and days for the tests of the ledger."""

from __future__ import annotations

from typing import Any

from watchgate.core.usage.ledger import Ledger
from watchgate.core.usage.pricing import Rates, Tariff
from watchgate.core.usage.usage_calls import UsageCall

DAY_US = 86_400 * 1_000_000
CHEAP = Rates(input=100, output=500, cache_read=10, cache_5m=125, cache_1h=200)
DEAR = Rates(input=200, output=1000, cache_read=20, cache_5m=250, cache_1h=400, web_search=7)
TARIFFS = {"small": Tariff(((0, CHEAP), (1000, DEAR))), "large": Tariff(((0, DEAR),))}


def tariff_of(call: UsageCall) -> Tariff | None:
    """The prices of two models; no table has any other."""
    return TARIFFS.get(call.model)


def day_of(at_us: int) -> int:
    """Days as UTC has them."""
    return at_us // DAY_US


def call(call_id: str = "a", *, session: str = "s", at: int = 1, **fields: Any) -> UsageCall:
    """A call of the small model, one second after the other."""
    told: dict[str, Any] = {"model": "small", "input": 10, "output": 2, "request": "r"}
    return UsageCall(id=call_id, session=session, at_us=at * 1_000_000, **(told | fields))


def ledger() -> Ledger:
    """A ledger with these prices."""
    return Ledger(tariff_of, day_of)
