"""`[costs]` and `[[price]]`: budgets, prices of one's own, and what is read to count usage."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

Dollars = Annotated[float, msgspec.Meta(ge=0, le=1_000_000)]
Percent = Annotated[int, msgspec.Meta(ge=1, le=100)]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class CostsConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The sources that are counted, and the effect of a budget; a budget of 0 is none.

    With `over_budget = "ask"` what the policy would allow by itself is asked once a budget is used
    up. Prices come with the program; with `update_prices` newer ones are fetched.
    """

    transcripts: bool = True
    budget_day_usd: Dollars = 0
    budget_session_usd: Dollars = 0
    warn_percent: Percent = 80
    over_budget: Literal["tell", "ask"] = "tell"
    update_prices: bool = False


class PriceConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The price of one model, in dollars per million tokens; `web_search` per thousand searches.

    It takes the place of what the table says about the model. A cache price that is not given is
    that of `input`.
    """

    model: Name
    input: Dollars
    output: Dollars
    cache_read: Dollars | None = None
    cache_write_5m: Dollars | None = None
    cache_write_1h: Dollars | None = None
    web_search: Dollars | None = None
