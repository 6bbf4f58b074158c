"""The usage of one session, as a screen may ask for it: one figure of cost, and its parts.

- Meters of what one source reports of a session, so that nothing it repeats counts twice. Tokens
  are counted in four counts that do not overlap, money in whole nano-dollars.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.model.events import Counts
from watchgate.core.model.usage_records import CountedRow, KindCosts, Limit, Part, Source

NANO = 1_000_000_000
"""Nano-dollars in a dollar."""
MAX_REFS = 16
_MAX_COUNT = 1 << 53
_MAX_USD = 1_000_000


class Tokens(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """Tokens of a model: input that no cache held, output, and input read from or put in one.

    `reasoning` is a part of the output.
    """

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0

    @property
    def read(self) -> int:
        """Everything that the model read."""
        return self.input + self.cache_read + self.cache_write

    @property
    def all(self) -> int:
        """Everything that it read and wrote."""
        return self.read + self.output

    def plus(self, other: Tokens) -> Tokens:
        """Returns both together."""
        return Tokens(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_write + other.cache_write,
            self.reasoning + other.reasoning,
        )

    def beyond(self, other: Tokens) -> Tokens:
        """Returns the tokens by which this exceeds the other, kind by kind, never below zero."""
        return Tokens(
            max(0, self.input - other.input),
            max(0, self.output - other.output),
            max(0, self.cache_read - other.cache_read),
            max(0, self.cache_write - other.cache_write),
            max(0, self.reasoning - other.reasoning),
        )

    def maximum(self, other: Tokens) -> Tokens:
        """Returns the larger of each count."""
        return self.plus(other.beyond(self))


class Meter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The count of what one source has reported of a session, or of one of its sub-agents.

    `over` and `cost_over` are of counts that ended, `open` and `cost_open` of the one that goes on;
    `refs` are the newest calls by their ids. `restarted`: the session began again since the last
    figure, so that a lower one begins a new count. Any other lower figure was late.
    """

    source: str
    sub: str = ""
    over: Tokens = Tokens()
    open: Tokens | None = None
    refs: tuple[tuple[str, Tokens], ...] = ()
    cost_over: int = 0
    cost_open: int | None = None
    restarted: bool = False

    @property
    def tokens(self) -> Tokens | None:
        """All that was counted; None where no tokens were told."""
        return None if self.open is None else self.over.plus(self.open)

    @property
    def cost(self) -> int | None:
        """Nano-dollars; None where no cost was told."""
        return None if self.cost_open is None else self.cost_over + self.cost_open

    def with_tokens(self, new: Tokens, counts: Counts, ref: str) -> Meter:
        """Returns the meter after these tokens."""
        was = self.open if self.open is not None else Tokens()
        change: dict[str, Any] = {"restarted": False}
        if counts == "each":
            known = dict(self.refs).get(ref) if ref else None
            change["open"] = was.plus(new.beyond(known or Tokens()))
            if ref:
                others = tuple(each for each in self.refs if each[0] != ref)
                newest = (ref, new.maximum(known or Tokens()))
                change["refs"] = (*others[1 - MAX_REFS :], newest)
        elif self._begins(was, new, counts):
            change["over"], change["open"] = self.over.plus(was), new
        else:
            change["open"] = was.maximum(new)
        return msgspec.structs.replace(self, **change)

    def joined(self, over: Meter) -> Meter:
        """Returns the meter with the tokens of another one that is dropped."""
        return msgspec.structs.replace(
            self,
            over=self.over.plus(over.tokens or Tokens()),
            open=self.open if self.open is not None else Tokens(),
        )

    def with_cost(self, new: int) -> Meter:
        """Returns the meter after this cost so far, in nano-dollars."""
        was = self.cost_open or 0
        if self.restarted and new < was:
            return msgspec.structs.replace(
                self, cost_over=self.cost_over + was, cost_open=new, restarted=False
            )
        return msgspec.structs.replace(self, cost_open=max(was, new), restarted=False)

    def _begins(self, was: Tokens, new: Tokens, counts: Counts) -> bool:
        """Returns whether this figure is of another count than the one before."""
        if counts == "newest":
            # One call is told while its output grows; what it read does not change.
            return reads(was) != reads(new)
        return self.restarted and new.all < was.all


def reads(tokens: Tokens) -> tuple[int, int, int]:
    """Returns the tokens that the model read: from input, from a cache, and into one."""
    return tokens.input, tokens.cache_read, tokens.cache_write


def tokens_in(data: dict[str, Any]) -> Tokens | None:
    """Reads the tokens of a record's data, in counts that do not overlap; None: it has none."""
    by_kind = {name: count(data.get(name)) for name in Tokens.__struct_fields__}
    if all(each is None for name, each in by_kind.items() if name != "reasoning"):
        return None
    counts = {name: each or 0 for name, each in by_kind.items()}
    if data.get("cached_within") is True:
        counts["input"] = max(0, counts["input"] - counts["cache_read"] - counts["cache_write"])
    counts["reasoning"] = min(counts["reasoning"], counts["output"])
    return Tokens(**counts)


def counts_in(data: dict[str, Any]) -> Counts:
    """Returns the meaning of a record's tokens: of each call, of the newest, or in total."""
    match data.get("counts"):
        case "total":
            return "total"
        case "newest":
            return "newest"
    return "each"


def nano(usd: Any) -> int | None:
    """Converts dollars to nano-dollars; None for what is no sensible amount of money."""
    if isinstance(usd, bool) or not isinstance(usd, int | float):
        return None
    if not 0 <= usd <= _MAX_USD:
        return None
    return round(usd * NANO)


def count(value: Any) -> int | None:
    """Returns a count of tokens; None for what is none."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= _MAX_COUNT:
        return None
    return value


MAX_DAYS = 31
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


class ReportedUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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


class CountedUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
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
    kinds: KindCosts | None = None
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
    reported: ReportedUsage = msgspec.field(name="told", default=ReportedUsage())
    counted: CountedUsage | None = None

    def since(self, day: int) -> tuple[int | None, Tokens | None]:
        """Returns cost and tokens of a day and those after it."""
        parts = [each for each in self.spent if each.day >= day]
        cost, tokens = total(parts)
        return (
            None if self.cost is None else cost or 0,
            None if self.tokens is None else tokens or Tokens(),
        )


def is_doubted(usage: SessionUsage) -> bool:
    """Returns whether the session's own figure is below that of its files."""
    return usage.source == "reported" and (usage.computed_cost or 0) > (usage.cost or 0)


class ReportedLimits(msgspec.Struct, frozen=True, kw_only=True):
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


def joined_parts(known: Spent, more: Spent) -> Spent:
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
