"""The sums over a session's usage files, as a record carries them: whole figures, no changes.

A later record of a session takes the place of the one before it, so that a missed one, a file that
was written anew and a call that turned out to be a copy cannot make a wrong sum.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Source = Literal["reported", "computed", "unknown"]
"""The source of a cost: the agent's own figure, tokens by a table of prices, or nobody."""


class KindCosts(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The table's cost of each kind of tokens, in nano-dollars: the parts of `computed`."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    web_search: int = 0


class CountedRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The usage of one model on one local day (days since 1970) in one session.

    Costs are in nano-dollars, None where there is none of that kind; they cover the same calls, so
    they are never added. `calls` of which `unpriced` no table has a price for. `least`: the figures
    are lower bounds. `sub` is the sub-agent, empty for the session itself.
    """

    day: int
    model: str = ""
    sub: str = ""
    calls: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    reported: int | None = None
    computed: int | None = None
    unreported: int = 0
    unpriced: int = 0
    is_lower_bound: bool = msgspec.field(name="least", default=False)


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The usage of a turn, or of the model call that asked for a tool call; `cost`: nano-dollars.

    `shared` tool calls were asked for by the same model call.
    """

    id: str
    at: int
    tokens: int = 0
    cost: int | None = None
    calls: int = 1
    shared: int = 1
    is_lower_bound: bool = msgspec.field(name="least", default=False)


class Minute(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The usage of a session in one minute (minutes since 1970, UTC).

    `cost` is in nano-dollars, `tokens` are those read that no cache held, and those written.
    """

    at: int
    cost: int | None = None
    tokens: int = 0


class Limit(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A window of a rate limit as the agent reports it; `resets_at` is UTC µs, 0: not reported."""

    name: str
    used_percent: float
    window_min: int = 0
    resets_at: int = 0


class CountedData(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """`usage.counted`: everything that the usage files of a session add up to.

    `source` says which of the costs of `rows` is the session's. `turns`, `tools` and `minutes` (of
    the last hour) are those that changed since the record before, `limits` those of the agent's
    account. `unreadable` counts lines and files that could not be read. `prices` names the table,
    `utc_offset_s` is that of the local days. `label` names a session that no hook reported.
    """

    rows: tuple[CountedRow, ...] = ()
    source: Source = "unknown"
    kinds: KindCosts | None = None
    turns: tuple[Part, ...] = ()
    tools: tuple[Part, ...] = ()
    minutes: tuple[Minute, ...] = ()
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Limit, ...] = ()
    unreadable: int = 0
    prices: str = ""
    utc_offset_s: int = 0
    label: str = ""
    cwd: str = ""
