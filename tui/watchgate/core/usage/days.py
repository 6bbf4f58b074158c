"""Usage by day, agent, model and source of the figure; a session's part of it can change."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import Source
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import DAYS_KEPT, OTHERS, Spent

MAX_MODELS = 50
"""The models that are told apart on one day."""

Place = tuple[int, str, str, Source]


class _Sum(msgspec.Struct, gc=False):
    """The sum of the parts of one place, and how many of them have a cost or tokens."""

    parts: int = 0
    costs: int = 0
    cost: int = 0
    tokened: int = 0
    tokens: Tokens = Tokens()
    lower_bounds: int = 0
    unpriced: int = 0

    def add(self, each: Spent, by: int) -> None:
        """Adds a part (`by` 1) or takes one out (-1)."""
        self.parts += by
        if each.cost is not None:
            self.costs += by
            self.cost += by * each.cost
        if each.tokens is not None:
            self.tokened += by
            tokens = each.tokens
            self.tokens = Tokens(
                self.tokens.input + by * tokens.input,
                self.tokens.output + by * tokens.output,
                self.tokens.cache_read + by * tokens.cache_read,
                self.tokens.cache_write + by * tokens.cache_write,
                self.tokens.reasoning + by * tokens.reasoning,
            )
        self.lower_bounds += by * each.is_lower_bound
        self.unpriced += by * each.unpriced


class DaySums:
    """Sums over parts that come and go; exact, whatever their order."""

    def __init__(self) -> None:
        self._sums: dict[Place, _Sum] = {}
        self._newest: tuple[Spent, ...] | None = None

    def change(self, before: Iterable[Spent], after: Iterable[Spent]) -> None:
        """Replaces these parts by those."""
        for by, parts in ((1, after), (-1, before)):
            for each in parts:
                place = (each.day, each.agent, each.model, each.source)
                known = self._sums.setdefault(place, _Sum())
                known.add(each, by)
                if not known.parts:
                    del self._sums[place]
        self._newest = None

    @property
    def spent(self) -> tuple[Spent, ...]:
        """The usage on the newest days; models beyond so many a day are joined."""
        if self._newest is None:
            self._newest = self._limited()
        return self._newest

    def _limited(self) -> tuple[Spent, ...]:
        days = sorted({place[0] for place in self._sums})[-DAYS_KEPT:]
        first = days[0] if days else 0
        models: dict[int, set[tuple[str, str]]] = {}
        merged: dict[Place, _Sum] = {}
        for (day, agent, model, source), part in self._sums.items():
            if day < first:
                continue
            known = models.setdefault(day, set())
            if len(known) < MAX_MODELS:
                known.add((agent, model))
            place = (day, agent, model if (agent, model) in known else OTHERS, source)
            _join(merged.setdefault(place, _Sum()), part)
        return tuple(_spent(place, part) for place, part in merged.items())


def _join(into: _Sum, more: _Sum) -> None:
    for name in _Sum.__struct_fields__:
        if name != "tokens":
            setattr(into, name, getattr(into, name) + getattr(more, name))
    into.tokens = into.tokens.plus(more.tokens)


def _spent(place: Place, part: _Sum) -> Spent:
    day, agent, model, source = place
    return Spent(
        day=day,
        agent=agent,
        model=model,
        cost=part.cost if part.costs else None,
        tokens=part.tokens if part.tokened else None,
        source=source,
        is_lower_bound=part.lower_bounds > 0,
        unpriced=part.unpriced,
    )
