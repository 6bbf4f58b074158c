"""What sessions used by day, agent, model and whose figure it is; a session's part can change."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.ledger.counted import Source
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import DAYS_KEPT, OTHERS, Spent

MODELS_KEPT = 50
"""The models that are told apart on one day."""

Place = tuple[int, str, str, Source]


class _Sum(msgspec.Struct, gc=False):
    """What the parts of one place add up to, and of how many of them."""

    parts: int = 0
    costs: int = 0
    cost: int = 0
    tokened: int = 0
    tokens: Tokens = Tokens()
    least: int = 0
    unpriced: int = 0

    def add(self, each: Spent, by: int) -> None:
        """Some part more (`by` 1) or less (-1)."""
        self.parts += by
        if each.cost is not None:
            self.costs += by
            self.cost += by * each.cost
        if each.tokens is not None:
            self.tokened += by
            told = each.tokens
            self.tokens = Tokens(
                self.tokens.input + by * told.input,
                self.tokens.output + by * told.output,
                self.tokens.cache_read + by * told.cache_read,
                self.tokens.cache_write + by * told.cache_write,
                self.tokens.reasoning + by * told.reasoning,
            )
        self.least += by * each.least
        self.unpriced += by * each.unpriced


class DaySums:
    """Sums over parts that come and go; exact, whatever their order."""

    def __init__(self) -> None:
        self._sums: dict[Place, _Sum] = {}
        self._told: tuple[Spent, ...] | None = None

    def change(self, before: Iterable[Spent], after: Iterable[Spent]) -> None:
        """These parts take the place of those."""
        for by, parts in ((1, after), (-1, before)):
            for each in parts:
                place = (each.day, each.agent, each.model, each.source)
                known = self._sums.setdefault(place, _Sum())
                known.add(each, by)
                if not known.parts:
                    del self._sums[place]
        self._told = None

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What was used on the newest days; beyond so many models a day as one of the others."""
        if self._told is None:
            self._told = self._limited()
        return self._told

    def _limited(self) -> tuple[Spent, ...]:
        days = sorted({place[0] for place in self._sums})[-DAYS_KEPT:]
        first = days[0] if days else 0
        models: dict[int, set[tuple[str, str]]] = {}
        merged: dict[Place, _Sum] = {}
        for (day, agent, model, source), found in self._sums.items():
            if day < first:
                continue
            known = models.setdefault(day, set())
            if len(known) < MODELS_KEPT:
                known.add((agent, model))
            place = (day, agent, model if (agent, model) in known else OTHERS, source)
            _join(merged.setdefault(place, _Sum()), found)
        return tuple(_spent(place, found) for place, found in merged.items())


def _join(into: _Sum, more: _Sum) -> None:
    for name in _Sum.__struct_fields__:
        if name != "tokens":
            setattr(into, name, getattr(into, name) + getattr(more, name))
    into.tokens = into.tokens.plus(more.tokens)


def _spent(place: Place, found: _Sum) -> Spent:
    day, agent, model, source = place
    return Spent(
        day=day,
        agent=agent,
        model=model,
        cost=found.cost if found.costs else None,
        tokens=found.tokens if found.tokened else None,
        source=source,
        least=found.least > 0,
        unpriced=found.unpriced,
    )
