"""Meters of what one source reports of a session, so that nothing it repeats counts twice.

Tokens are counted in four counts that do not overlap, money in whole nano-dollars.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.events import Counts

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
        """Returns what is in here and not in the other."""
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
