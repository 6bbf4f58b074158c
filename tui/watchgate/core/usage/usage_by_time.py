"""Usage of the last hour, minute by minute and session by session: the pace of spending.

Reports of streams add up in the minute in which they come; what files say of a minute replaces what
they said of it before, and counts instead of the reports.

- Usage by day, agent, model and source of the figure; a session's part of it can change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from watchgate.core.model.usage_records import Minute, Source
from watchgate.core.usage.session_usage import MAX_DAYS, OTHERS, Key, Spent, Tokens

MAX_MODELS = 50
"""The models that are told apart on one day."""

Place = tuple[int, str, str, Source]


class _DaySum(msgspec.Struct, gc=False):
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
        self._sums: dict[Place, _DaySum] = {}
        self._newest: tuple[Spent, ...] | None = None

    def change(self, before: Iterable[Spent], after: Iterable[Spent]) -> None:
        """Replaces these parts by those."""
        for by, parts in ((1, after), (-1, before)):
            for each in parts:
                place = (each.day, each.agent, each.model, each.source)
                known = self._sums.setdefault(place, _DaySum())
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
        days = sorted({place[0] for place in self._sums})[-MAX_DAYS:]
        first = days[0] if days else 0
        models: dict[int, set[tuple[str, str]]] = {}
        merged: dict[Place, _DaySum] = {}
        for (day, agent, model, source), part in self._sums.items():
            if day < first:
                continue
            known = models.setdefault(day, set())
            if len(known) < MAX_MODELS:
                known.add((agent, model))
            place = (day, agent, model if (agent, model) in known else OTHERS, source)
            _join(merged.setdefault(place, _DaySum()), part)
        return tuple(_spent(place, part) for place, part in merged.items())


def _join(into: _DaySum, more: _DaySum) -> None:
    for name in _DaySum.__struct_fields__:
        if name != "tokens":
            setattr(into, name, getattr(into, name) + getattr(more, name))
    into.tokens = into.tokens.plus(more.tokens)


def _spent(place: Place, part: _DaySum) -> Spent:
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


HOUR_MIN = 60
BURN_MIN = 10
MINUTE_US = 60 * 1_000_000


class Burn(msgspec.Struct, frozen=True, kw_only=True):
    """The pace of spending over the last minutes; None: no cost is known of what was used.

    `tokens_per_min` are those read that no cache held, and those written.
    """

    usd_nano_per_hour: int | None
    tokens_per_min: int


class SessionLastHour(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """The last hour of one session, as a snapshot carries it."""

    agent: str
    session: str
    reported: tuple[Minute, ...] = msgspec.field(name="told", default=())
    counted: tuple[Minute, ...] = ()


class LastHour:
    """The last hour of every session that used something in it."""

    def __init__(self, start: Iterable[SessionLastHour] = ()) -> None:
        self._reported: dict[Key, dict[int, Minute]] = {}
        self._counted: dict[Key, dict[int, Minute]] = {}
        for each in start:
            key = (each.agent, each.session)
            for into, minutes in ((self._reported, each.reported), (self._counted, each.counted)):
                if minutes:
                    into[key] = {minute.at: minute for minute in minutes}

    def add_reported(self, key: Key, at_us: int, cost: int | None, tokens: int) -> None:
        """Adds what a stream reported."""
        at = at_us // MINUTE_US
        known = _of(self._reported, key, at)
        was = known.get(at, Minute(at=at))
        sum_ = was.cost if cost is None else (was.cost or 0) + cost
        known[at] = Minute(at=at, cost=sum_, tokens=was.tokens + tokens)
        _forget(self._reported, key)

    def counted(self, key: Key, minutes: Iterable[Minute]) -> None:
        """Replaces minutes by what the files of the session say of them."""
        if new := {each.at: each for each in minutes}:
            _of(self._counted, key, max(new)).update(new)
            _forget(self._counted, key)

    def drop(self, key: Key) -> None:
        """Drops a session."""
        self._reported.pop(key, None)
        self._counted.pop(key, None)

    def snapshot(self) -> tuple[SessionLastHour, ...]:
        """Returns all of it for a snapshot, as it is now."""
        return tuple(
            SessionLastHour(
                agent=key[0],
                session=key[1],
                reported=tuple(self._reported.get(key, {}).values()),
                counted=tuple(self._counted.get(key, {}).values()),
            )
            for key in self._keys()
        )

    def minutes(self, key: Key, now_us: int) -> tuple[Minute, ...]:
        """Returns the minutes of the hour before a moment in which that session used something."""
        now = now_us // MINUTE_US
        for of in (self._counted, self._reported):
            known = of.get(key, {})
            spent = tuple(each for at, each in known.items() if now - HOUR_MIN < at <= now)
            if any(each.cost is not None for each in spent):
                return spent
        return ()

    def counted_of(self, key: Key) -> tuple[Minute, ...]:
        """Returns the minutes of a session by its files."""
        return tuple(self._counted.get(key, {}).values())

    def last_hour(self, now_us: int) -> int:
        """Returns the nano-dollars of the hour before a moment."""
        return sum(cost or 0 for cost, _ in self._since(now_us, HOUR_MIN))

    def burn(self, now_us: int) -> Burn:
        """Returns the pace of spending, over the minutes before a moment."""
        parts = list(self._since(now_us, BURN_MIN))
        known = [cost for cost, _ in parts if cost is not None]
        tokens = sum(tokens for _, tokens in parts)
        cost = sum(known) * HOUR_MIN // BURN_MIN if known or not tokens else None
        return Burn(usd_nano_per_hour=cost, tokens_per_min=tokens // BURN_MIN)

    def _since(self, now_us: int, minutes: int) -> Iterator[tuple[int | None, int]]:
        """Yields cost and tokens of each session in the last minutes, this one included."""
        now = now_us // MINUTE_US
        for key in self._keys():
            reported, counted = (
                [each for at, each in of.get(key, {}).items() if now - minutes < at <= now]
                for of in (self._reported, self._counted)
            )
            costs = [each.cost for each in counted if each.cost is not None]
            costs = costs or [each.cost for each in reported if each.cost is not None]
            tokens = sum(each.tokens for each in (counted or reported))
            if costs or tokens:
                yield (sum(costs) if costs else None), tokens

    def _keys(self) -> dict[Key, None]:
        return dict.fromkeys((*self._reported, *self._counted))


def _of(of: dict[Key, dict[int, Minute]], key: Key, at: int) -> dict[int, Minute]:
    """Returns the minutes of a session; a new one first drops those silent for an hour."""
    if key not in of:
        for each in [each for each, known in of.items() if max(known) <= at - HOUR_MIN]:
            del of[each]
        of[key] = {}
    return of[key]


def _forget(of: dict[Key, dict[int, Minute]], key: Key) -> None:
    """Drops what lies an hour behind the session's newest minute."""
    minutes = of[key]
    if len(minutes) > HOUR_MIN:
        newest = max(minutes)
        of[key] = {at: each for at, each in minutes.items() if at > newest - HOUR_MIN}
