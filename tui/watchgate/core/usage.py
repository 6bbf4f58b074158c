"""What sessions have used and cost: the fold of `usage` records, by session, day and model.

Reported figures alone: nothing is priced here, and what no agent told stays None. Days are UTC, as
those of `Totals`. What a session had cost before it was first heard of counts on that day.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.records import Record
from watchgate.core.usage_meter import Meter, Tokens, count, counts_in
from watchgate.core.usage_sources import NAME_CHARS, metered, sums

KEPT = 2_000
DAYS_KEPT = 31
MODELS_KEPT = 50
DAY_MODELS = 4
"""The models of one session that are told apart on one day."""

HOUR_MIN = 60
DAY_US = 86_400 * 1_000_000
MINUTE_US = 60 * 1_000_000
OTHERS = "other models"

Key = tuple[str, str]


class Spent(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """What one model used on one day (days since 1970, UTC): nano-dollars, tokens; None: untold."""

    day: int
    agent: str
    model: str = ""
    cost: int | None = None
    tokens: Tokens | None = None


class SessionUsage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one session and its sub-agents have used; `at` (UTC µs) is when that last changed.

    `cost` is in nano-dollars; None is unknown. `models` are those it was told to use, the newest
    last. `partial` says that its agent tells of its newest call alone, so that `tokens` may lack
    calls. `spent` are the same figures by day and model, the oldest first.
    """

    agent: str
    session: str
    label: str = ""
    at: int = 0
    models: tuple[str, ...] = ()
    cost: int | None = None
    tokens: Tokens | None = None
    partial: bool = False
    context_used: int | None = None
    context_size: int | None = None
    spent: tuple[Spent, ...] = ()
    meters: tuple[Meter, ...] = ()

    def since(self, day: int) -> tuple[int | None, Tokens | None]:
        """Cost and tokens of a day and those after it."""
        parts = [each for each in self.spent if each.day >= day]
        cost, tokens = total(parts)
        return (
            None if self.cost is None else cost or 0,
            None if self.tokens is None else tokens or Tokens(),
        )


class UsageKept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `UsageFold` as a snapshot carries it.

    `recent` is the money of the last hour by minute, `ran` the days of which something is known.
    `begun` are sessions of which the start was heard and no usage yet.
    """

    sessions: tuple[SessionUsage, ...] = ()
    spent: tuple[Spent, ...] = ()
    ran: tuple[int, ...] = ()
    recent: tuple[tuple[int, int], ...] = ()
    begun: tuple[Key, ...] = ()


class UsageFold:
    """Usage by session, and by day and model; over `kept` sessions the longest unheard of go.

    `revision` grows with every change.
    """

    def __init__(self, start: UsageKept | None = None, *, kept: int = KEPT) -> None:
        start = start or UsageKept()
        self.sessions = {(each.agent, each.session): each for each in start.sessions}
        self.revision = 0
        self._spent: dict[tuple[int, str, str], Spent] = {}
        for each in start.spent:  # those of several cores may be of the same day and model
            known = self._spent.get((each.day, each.agent, each.model))
            self._spent[each.day, each.agent, each.model] = _added(known, each) if known else each
        self._ran = sorted(set(start.ran))
        self._recent = start.recent
        self._begun = dict.fromkeys(start.begun)
        self._kept = kept

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What every model used on each day."""
        return tuple(self._spent.values())

    @property
    def ran(self) -> tuple[int, ...]:
        """The days of which something is known, the oldest first."""
        return tuple(self._ran)

    def kept(self) -> UsageKept:
        """All of it, as it is now."""
        return UsageKept(
            sessions=tuple(self.sessions.values()),
            spent=self.spent,
            ran=self.ran,
            recent=self._recent,
            begun=tuple(self._begun),
        )

    def last_hour(self, now_us: int) -> int:
        """The nano-dollars of the hour before a moment."""
        now = now_us // MINUTE_US
        return sum(cost for minute, cost in self._recent if now - HOUR_MIN < minute <= now)

    def running(self, at_us: int) -> None:
        """A core was running then."""
        day = at_us // DAY_US
        if (not self._ran or self._ran[-1] != day) and day not in self._ran:
            self._ran = sorted((*self._ran, day))[-DAYS_KEPT:]
            self.revision += 1

    def started(self, key: Key, *, resumed: bool = False) -> None:
        """The session began anew, or (`resumed`) again: its agent may count from zero again."""
        seen = self.sessions.get(key)
        if seen is None and not resumed:
            self._begun[key] = None
            if len(self._begun) > self._kept:
                del self._begun[next(iter(self._begun))]
        if seen is not None:
            meters = tuple(msgspec.structs.replace(m, restarted=True) for m in seen.meters)
            self.sessions[key] = msgspec.structs.replace(seen, meters=meters)

    def used(self, record: Record, *, label: str = "", model: str = "") -> None:
        """What a session used by a `usage` record; `model` is the one it was last known to use."""
        key, data = (record.agent or "", record.session or ""), record.data
        seen = self.sessions.get(key)
        if seen is None:
            self._let_go()
            seen = SessionUsage(agent=key[0], session=key[1])
        told = data.get("model")
        model = (told if isinstance(told, str) and told else model)[:NAME_CHARS]
        changes: dict[str, Any] = {"at": max(seen.at, record.at), "label": label or seen.label}
        if record.sub is None:
            changes |= _context(data)
        if model and not (record.sub and model in seen.models):
            others = tuple(each for each in seen.models if each != model)[-3:]
            # What a sub-agent uses is not what the session itself used last.
            first = others[:-1] if record.sub else others
            changes["models"] = (*first, model, *others[len(first) :])
        meters = metered(seen.meters, record)
        cost, tokens = sums(meters)
        changes["meters"] = meters
        changes["partial"] = counts_in(data) == "newest" or seen.partial
        more = Spent(
            day=record.at // DAY_US,
            agent=key[0],
            model=model or (seen.models[-1] if seen.models else ""),
            cost=None if cost is None else max(0, cost - (seen.cost or 0)),
            tokens=None if tokens is None else tokens.beyond(seen.tokens or Tokens()),
        )
        if cost is not None:
            changes["cost"] = max(cost, seen.cost or 0)
        if tokens is not None:
            changes["tokens"] = tokens.most(seen.tokens or Tokens())
        changes["spent"] = _with(seen.spent, more)
        self.sessions[key] = msgspec.structs.replace(seen, **changes)
        self._count(more)
        # What it had cost before it was first heard of was spent nobody knows when.
        if (seen.cost is not None or key in self._begun) and more.cost:
            self._count_hour(more.cost, record.at)
        if cost is not None:
            self._begun.pop(key, None)
        self.revision += 1

    def _count_hour(self, cost: int, at_us: int) -> None:
        """The figures of the last hour with some more."""
        minute = at_us // MINUTE_US
        recent = dict(self._recent)
        recent[minute] = recent.get(minute, 0) + cost
        newest = max(recent)
        self._recent = tuple(each for each in sorted(recent.items()) if each[0] > newest - HOUR_MIN)

    def _count(self, more: Spent) -> None:
        """The day's figures with some more."""
        if more.cost is None and more.tokens is None:
            return
        model = self._room(more)
        if model is None:
            return
        place = (more.day, more.agent, model)
        known = self._spent.get(place)
        more = msgspec.structs.replace(more, model=model)
        self._spent[place] = more if known is None else _added(known, more)

    def _room(self, more: Spent) -> str | None:
        """The model under which it is counted: with others on a day of many, None on an old day."""
        if (more.day, more.agent, more.model) in self._spent:
            return more.model
        days = sorted({day for day, _, _ in self._spent} | {more.day})[-DAYS_KEPT:]
        if more.day < days[0]:
            return None
        self._spent = {at: each for at, each in self._spent.items() if at[0] >= days[0]}
        same_day = sum(1 for day, _, _ in self._spent if day == more.day)
        return more.model if same_day < MODELS_KEPT else OTHERS

    def _let_go(self) -> None:
        """Forget a quarter of the sessions at once; the days keep what they used."""
        if len(self.sessions) >= self._kept:
            oldest = sorted(self.sessions.values(), key=lambda each: each.at)
            for each in oldest[: max(1, self._kept // 4)]:
                del self.sessions[each.agent, each.session]


def total(parts: Iterable[Spent]) -> tuple[int | None, Tokens | None]:
    """Cost and tokens of several parts, each None where none of them tells."""
    cost: int | None = None
    tokens: Tokens | None = None
    for each in parts:
        if each.cost is not None:
            cost = (cost or 0) + each.cost
        if each.tokens is not None:
            tokens = each.tokens if tokens is None else tokens.plus(each.tokens)
    return cost, tokens


def _added(known: Spent, more: Spent) -> Spent:
    cost, tokens = total((known, more))
    return msgspec.structs.replace(known, cost=cost, tokens=tokens)


def _with(spent: tuple[Spent, ...], more: Spent) -> tuple[Spent, ...]:
    """A session's parts with some more; the oldest go."""
    if more.cost is None and more.tokens is None:
        return spent
    same_day = {each.model for each in spent if each.day == more.day}
    if more.model not in same_day and len(same_day) >= DAY_MODELS - 1:
        more = msgspec.structs.replace(more, model=OTHERS)
    for place, each in enumerate(spent):
        if (each.day, each.model) == (more.day, more.model):
            return (*spent[:place], _added(each, more), *spent[place + 1 :])
    return tuple(sorted((*spent, more), key=lambda each: each.day))[-DAY_MODELS * DAYS_KEPT :]


def _context(data: dict[str, Any]) -> dict[str, int]:
    """How full the context is, as far as the record tells."""
    told = {name: count(data.get(name)) for name in ("context_used", "context_size")}
    return {name: each for name, each in told.items() if each is not None}
