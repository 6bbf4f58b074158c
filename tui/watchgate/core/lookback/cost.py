"""What the calls of models cost over a span of days."""

from __future__ import annotations

import msgspec


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """`usd_nano` is in billionths of a dollar, None where nothing has a known price.

    `least` says that it is a lower bound; `unpriced` names the models without a price. `prices`
    says in words where the prices are from.
    """

    usd_nano: int | None = None
    least: bool = False
    calls: int = 0
    tokens: int = 0
    unpriced: tuple[str, ...] = ()
    prices: str = ""
