"""What sessions have used and cost: the fold of what agents tell and of what their files add up to.

Told figures are counted by meters (`usage`), those of files come whole (`usage.counted`); which of
them a session shows is chosen in `chosen`. Days are local ones, by the offset that the core
tells. What a session had cost before it was first heard of counts on that day.
"""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core import decoding
from watchgate.core.ledger.counted import CountedData, Limit, Minute, Part
from watchgate.core.recent import Recent as Newest
from watchgate.core.records import Record
from watchgate.core.usage.chosen import chosen
from watchgate.core.usage.counted import counted
from watchgate.core.usage.days import DaySums
from watchgate.core.usage.meter import Tokens, counts_in
from watchgate.core.usage.recent import Burn, Recent, RecentOf
from watchgate.core.usage.session import (
    DAYS_KEPT,
    Key,
    LimitsTold,
    SessionUsage,
    Spent,
    Told,
)
from watchgate.core.usage.told import heard

KEPT = 2_000
TOOLS_KEPT = 5_000
TOOLS_SENT = 2_000
LIMITS_KEPT = 16
AGENTS_KEPT = 64
TURNS_SENT = 20
"""The sessions of which a snapshot carries the turns, those that used something last."""

DAY_US = 86_400 * 1_000_000


class ToolUsage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a tool call of a session cost, as a snapshot carries it."""

    agent: str
    session: str
    part: Part


class UsageKept(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `UsageFold` as a snapshot carries it.

    `spent` is what sessions used that are not kept any more, `recent` the last hour, `ran` the days
    of which something is known. `begun` are sessions of which the start was heard and no usage yet.
    """

    sessions: tuple[SessionUsage, ...] = ()
    spent: tuple[Spent, ...] = ()
    ran: tuple[int, ...] = ()
    recent: tuple[RecentOf, ...] = ()
    begun: tuple[Key, ...] = ()
    tools: tuple[ToolUsage, ...] = ()
    limits: dict[str, LimitsTold] = {}
    utc_offset_s: int = 0
    prices: str = ""


class UsageFold:
    """Usage by session, and by day and model; over `kept` sessions the longest unheard of go.

    `revision` grows with every change. `limits` are the newest rate limits by agent, `prices` names
    the table of prices, `utc_offset_s` is that of the core's local days.
    """

    def __init__(self, start: UsageKept | None = None, *, kept: int = KEPT) -> None:
        start = start or UsageKept()
        self.sessions = {(each.agent, each.session): _restored(each) for each in start.sessions}
        self.revision = 0
        self.limits: Newest[str, LimitsTold] = Newest(AGENTS_KEPT)
        for agent, limits in start.limits.items():
            self.limits[agent] = limits
        self.prices = start.prices
        self.utc_offset_s = start.utc_offset_s
        self._gone = DaySums()
        self._gone.change((), start.spent)
        self._days = DaySums()
        for each in self.sessions.values():
            self._days.change((), each.spent)
        self._days.change((), start.spent)
        self._ran = sorted(set(start.ran))
        self._recent = Recent(start.recent)
        self._begun = dict.fromkeys(start.begun)
        self._tools: Newest[tuple[str, str, str], Part] = Newest(TOOLS_KEPT)
        for tool in start.tools:
            self._tools[tool.agent, tool.session, tool.part.id] = tool.part
        self._unreadable = sum(each.unreadable for each in self.sessions.values())
        self._kept = kept

    @property
    def spent(self) -> tuple[Spent, ...]:
        """What every model used on each day, by whose figure it is."""
        return self._days.spent

    @property
    def ran(self) -> tuple[int, ...]:
        """The days of which something is known, the oldest first."""
        return tuple(self._ran)

    @property
    def unreadable(self) -> int:
        """The lines and files of the kept sessions that could not be read."""
        return self._unreadable

    def day_of(self, at_us: int) -> int:
        """The local day of a moment, in days since 1970."""
        return (at_us + self.utc_offset_s * 1_000_000) // DAY_US

    def tool_cost(self, agent: str, session: str, call_id: str) -> Part | None:
        """The model call that asked for a tool call, if the session's files tell of it."""
        return self._tools.get((agent, session, call_id))

    def minutes(self, key: Key, now_us: int) -> tuple[Minute, ...]:
        """What one session spent in each minute of the last hour, where a cost is known."""
        return self._recent.minutes(key, now_us)

    def last_hour(self, now_us: int) -> int:
        """The nano-dollars of the hour before a moment."""
        return self._recent.last_hour(now_us)

    def burn(self, now_us: int) -> Burn:
        """How fast sessions spend, over the minutes before a moment."""
        return self._recent.burn(now_us)

    def counted_minutes(self, key: Key) -> tuple[Minute, ...]:
        """What the files of a session said of its newest minutes."""
        return self._recent.counted_of(key)

    def kept(self) -> UsageKept:
        """All of it, as it is now; of turns and tool calls the newest."""
        newest = sorted(self.sessions.values(), key=lambda each: each.at)[-TURNS_SENT:]
        with_turns = {(each.agent, each.session) for each in newest}
        tools = list(self._tools.items())[-TOOLS_SENT:]
        return UsageKept(
            sessions=tuple(
                _slim(each, turns=key in with_turns) for key, each in self.sessions.items()
            ),
            spent=self._gone.spent,
            ran=self.ran,
            recent=self._recent.kept(),
            begun=tuple(self._begun),
            tools=tuple(ToolUsage(agent=key[0], session=key[1], part=part) for key, part in tools),
            limits=dict(self.limits),
            utc_offset_s=self.utc_offset_s,
            prices=self.prices,
        )

    def local(self, utc_offset_s: Any) -> None:
        """The core's clock is so far ahead of UTC; anything else that is told is passed over."""
        if isinstance(utc_offset_s, int) and abs(utc_offset_s) < DAY_US // 1_000_000:
            self.utc_offset_s = utc_offset_s

    def running(self, at_us: int) -> None:
        """A core was running then."""
        day = self.day_of(at_us)
        if (not self._ran or self._ran[-1] != day) and day not in self._ran:
            self._ran = sorted((*self._ran, day))[-DAYS_KEPT:]
            self.revision += 1

    def started(self, key: Key, *, resumed: bool = False) -> None:
        """The session began anew, or (`resumed`) again: its agent may count from zero again."""
        seen = self.sessions.get(key)
        if (seen is None or seen.told.cost is None) and not resumed:
            self._begun[key] = None
            if len(self._begun) > self._kept:
                del self._begun[next(iter(self._begun))]
        if seen is not None and seen.told.meters:
            meters = tuple(msgspec.structs.replace(m, restarted=True) for m in seen.told.meters)
            told = msgspec.structs.replace(seen.told, meters=meters)
            self.sessions[key] = msgspec.structs.replace(seen, told=told)

    def used(self, record: Record, *, label: str = "", model: str = "") -> None:
        """What a session used by a `usage` record; `model` is the one it was last known to use."""
        if limits := record.data.get("limits"):
            self._limited(record, decoding.convert(limits, tuple[Limit, ...]))
            if not _tells_usage(record.data):
                return
        seen, key = self._seen(record, label), (record.agent or "", record.session or "")
        was, begun = seen.told, key in self._begun
        day = self.day_of(record.at)
        seen = heard(seen, record, day=day, model=model, begun=begun)
        now = seen.told
        self._put(key, seen)
        more = None if now.cost is None else now.cost - (was.cost or 0)
        if was.cost is None and not begun:
            more = None  # what it had cost before it was first heard of was spent nobody knows when
        each = counts_in(record.data) == "each"
        tokens = _uncached(now) - _uncached(was) if was.tokens or begun or each else 0
        if more or tokens:
            self._recent.told(key, record.at, more, tokens)
        if now.cost is not None:
            self._begun.pop(key, None)

    def counted(self, record: Record, data: CountedData, *, label: str = "") -> None:
        """What the files of a session add up to by now (`usage.counted`)."""
        key = (record.agent or "", record.session or "")
        self.prices = data.prices or self.prices
        if data.limits:
            self.limits[key[0]] = LimitsTold(at=record.at, limits=data.limits)
        for part in data.tools:
            self._tools[(*key, part.id)] = part
        self._recent.counted(key, data.minutes)
        self._put(key, counted(self._seen(record, label), data, record.at))

    def _limited(self, record: Record, told: tuple[Limit, ...]) -> None:
        """The windows of an agent's account that it told of; the others stand as they were."""
        agent = record.agent or ""
        known = self.limits.get(agent)
        windows = {each.name: each for each in (*(known.limits if known else ()), *told)}
        self.limits[agent] = LimitsTold(at=record.at, limits=tuple(windows.values())[-LIMITS_KEPT:])
        self.revision += 1

    def _seen(self, record: Record, label: str) -> SessionUsage:
        key = (record.agent or "", record.session or "")
        seen = self.sessions.get(key)
        if seen is None:
            self._let_go()
            return SessionUsage(agent=key[0], session=key[1], label=label)
        return msgspec.structs.replace(seen, label=label) if label else seen

    def _put(self, key: Key, seen: SessionUsage) -> None:
        """The session stands like this now."""
        before = self.sessions.get(key)
        now = chosen(seen)
        self.sessions[key] = now
        self._days.change(before.spent if before else (), now.spent)
        self._unreadable += now.unreadable - (before.unreadable if before else 0)
        self.revision += 1

    def _let_go(self) -> None:
        """Forget a quarter of the sessions at once; the days keep what they used."""
        if len(self.sessions) >= self._kept:
            oldest = sorted(self.sessions.values(), key=_last_used)
            for each in oldest[: max(1, self._kept // 4)]:
                key = (each.agent, each.session)
                del self.sessions[key]
                self._recent.drop(key)
                self._unreadable -= each.unreadable
                self._gone.change((), each.spent)
            # So many models a day as are told apart, not as many as there ever were.
            gone, self._gone = self._gone.spent, DaySums()
            self._gone.change((), gone)
            self._days = DaySums()
            for each in self.sessions.values():
                self._days.change((), each.spent)
            self._days.change((), gone)


def _last_used(seen: SessionUsage) -> tuple[int, int]:
    """The last day on which it used anything, then when that was heard: files are read later."""
    return max((each.day for each in seen.spent), default=seen.at // DAY_US), seen.at


def _tells_usage(data: dict[str, Any]) -> bool:
    """Whether it tells of more than the account's limits."""
    names = (*Tokens.__struct_fields__, "total", "total_cost_usd", "context_used", "context_size")
    return any(data.get(name) is not None for name in names)


def _uncached(told: Told) -> int:
    """The tokens read that no cache held, and those written."""
    return told.tokens.input + told.tokens.output if told.tokens else 0


def _slim(seen: SessionUsage, *, turns: bool) -> SessionUsage:
    """Without what follows from the rest."""
    if not _derives(seen):
        return seen
    return msgspec.structs.replace(seen, spent=(), subs=(), turns=seen.turns if turns else ())


def _restored(seen: SessionUsage) -> SessionUsage:
    return chosen(seen) if _derives(seen) else seen


def _derives(seen: SessionUsage) -> bool:
    """Whether its figures follow from what was told and counted of it."""
    return seen.counted is not None or bool(seen.told.meters)
