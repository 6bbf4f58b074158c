"""The usage of one session, as a screen may ask for it: one figure of cost, and its parts."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import CountedRow, Kinds, Limit, Part, Source
from watchgate.core.usage.meter import Meter, Tokens

DAYS_KEPT = 31
DAY_MODELS = 4
"""The models of one session that are told apart on one day."""

OTHERS = "other models"

Key = tuple[str, str]
"""An agent and a session of it."""


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The usage of one model on one local day (days since 1970): nano-dollars and tokens.

    None is unknown. `source` says whose figure the cost is; where it is `reported` and `cost` None,
    the session's agent reported one sum, which stands with another model. `unpriced` calls have no
    price, `least` says that the figures are lower bounds.
    """

    day: int
    agent: str
    model: str = ""
    cost: int | None = None
    tokens: Tokens | None = None
    source: Source = "unknown"
    is_lower_bound: bool = msgspec.field(name="least", default=False)
    unpriced: int = 0


class SubUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The part of one sub-agent in its session's figures, by the session's files."""

    sub: str
    cost: int | None = None
    tokens: Tokens = Tokens()
    calls: int = 0


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The figures that the agent and its streams reported of a session, also by day and model.

    `from_start`: they have reported since the session began, so that the cost is all of it.
    `partial`: they report the newest call alone, so that `tokens` may lack calls.
    """

    cost: int | None = None
    tokens: Tokens | None = None
    spent: tuple[Spent, ...] = ()
    meters: tuple[Meter, ...] = ()
    from_start: bool = False
    partial: bool = False


class Counted(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The sums over the files of a session, as they were recorded last."""

    rows: tuple[CountedRow, ...] = ()
    source: Source = "unknown"


class SessionUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The usage of one session and its sub-agents; `at` (UTC µs) is when that last changed.

    `cost` is in nano-dollars, None is unknown, and `source` says whose figure it is:
    `reported_cost` and `computed_cost` are those of the same calls, so they are never added.
    `least`: the cost is a lower bound, as that of models that are `unpriced` is missing or calls
    are. `kinds` are the parts of `computed_cost`, one for each kind of tokens. `tokens` do not
    overlap, `reasoning` is a part of the output; `partial`: they may lack calls. `models` are those
    it used, the newest last. `spent` are the same figures by day and model, the oldest first,
    `turns` the newest ones, the oldest first. `unreadable` counts lines
    and files. What all this is made of stays in `told` and `counted`.
    """

    agent: str
    session: str
    label: str = ""
    cwd: str = ""
    at: int = 0
    models: tuple[str, ...] = ()
    cost: int | None = None
    source: Source = "unknown"
    reported_cost: int | None = None
    computed_cost: int | None = None
    kinds: Kinds | None = None
    is_lower_bound: bool = msgspec.field(name="least", default=False)
    unpriced: tuple[str, ...] = ()
    tokens: Tokens | None = None
    reasoning: int = 0
    partial: bool = False
    unreadable: int = 0
    context_used: int | None = None
    context_size: int | None = None
    spent: tuple[Spent, ...] = ()
    subs: tuple[SubUsage, ...] = ()
    turns: tuple[Part, ...] = ()
    reported: Told = msgspec.field(name="told", default=Told())
    counted: Counted | None = None

    def since(self, day: int) -> tuple[int | None, Tokens | None]:
        """Returns cost and tokens of a day and those after it."""
        parts = [each for each in self.spent if each.day >= day]
        cost, tokens = total(parts)
        return (
            None if self.cost is None else cost or 0,
            None if self.tokens is None else tokens or Tokens(),
        )


class LimitsTold(msgspec.Struct, frozen=True, kw_only=True):
    """The rate limits of an agent's account as it reported them last; `at` is UTC µs."""

    at: int
    limits: tuple[Limit, ...] = ()


def total(parts: Iterable[Spent]) -> tuple[int | None, Tokens | None]:
    """Adds cost and tokens of several parts, each None where none of them has any."""
    cost: int | None = None
    tokens: Tokens | None = None
    for each in parts:
        if each.cost is not None:
            cost = (cost or 0) + each.cost
        if each.tokens is not None:
            tokens = each.tokens if tokens is None else tokens.plus(each.tokens)
    return cost, tokens


def added(known: Spent, more: Spent) -> Spent:
    """Joins two parts of the same day, agent and model."""
    cost, tokens = total((known, more))
    return msgspec.structs.replace(
        known,
        cost=cost,
        tokens=tokens,
        source=known.source if known.source != "unknown" else more.source,
        is_lower_bound=known.is_lower_bound or more.is_lower_bound,
        unpriced=known.unpriced + more.unpriced,
    )
