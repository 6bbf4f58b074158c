"""The cost of model calls over a span of days."""

from __future__ import annotations

import msgspec


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of some model calls, and what is known of its completeness.

    `usd_nano` is in billionths of a dollar, None where nothing has a known price.

    `least` says that it is a lower bound; `unpriced` names the models without a price. `prices`
    says in words where the prices are from.
    """

    usd_nano: int | None = None
    is_lower_bound: bool = msgspec.field(name="least", default=False)
    calls: int = 0
    tokens: int = 0
    unpriced: tuple[str, ...] = ()
    prices: str = ""
