"""Usage and cost of all sessions: the fold of agents' reports and of the sums over their files.

Reported figures are counted by meters (`usage`), those of files come whole (`usage.counted`);
`choose_figures` picks the one that a session shows. Days are local ones, by the offset that the
core records. What a session had cost before its first record counts on that day.

The part of a session's counted usage that a state does not hold yet: only that is recorded.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.bounded import Recent as Newest
from watchgate.core.model.records import Record
from watchgate.core.model.usage_records import CountedData, Limit, Minute, Part
from watchgate.core.usage.cost_choice import choose_figures
from watchgate.core.usage.session_fold import with_file_sums, with_report
from watchgate.core.usage.session_usage import (
    MAX_DAYS,
    Key,
    ReportedLimits,
    ReportedUsage,
    SessionUsage,
    Spent,
    Tokens,
    counts_in,
)
from watchgate.core.usage.usage_by_time import Burn, DaySums, LastHour, SessionLastHour

MAX_SESSIONS = 2_000
MAX_TOOLS = 5_000
TOOLS_SENT = 2_000
MAX_LIMITS = 16
MAX_AGENTS = 64
TURNS_SENT = 20
"""The sessions of which a snapshot carries the turns, those that used something last."""

DAY_US = 86_400 * 1_000_000


class ToolUsage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The cost of a session's tool call, as a snapshot carries it."""

    agent: str
    session: str
    part: Part


class UsageSnapshot(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A `UsageFold` as a snapshot carries it.

    `spent` is what dropped sessions used, `recent` the last hour, `ran` the days of which something
    is known. `begun` are sessions of which the start was recorded and no usage yet.
    """

    sessions: tuple[SessionUsage, ...] = ()
    spent: tuple[Spent, ...] = ()
    ran: tuple[int, ...] = ()
    recent: tuple[SessionLastHour, ...] = ()
    begun: tuple[Key, ...] = ()
    tools: tuple[ToolUsage, ...] = ()
    limits: dict[str, ReportedLimits] = {}
    utc_offset_s: int = 0
    prices: str = ""


class UsageFold:
    """Usage by session, and by day and model; of too many sessions the longest unused are dropped.

    `revision` grows with every change. `limits` are the newest rate limits by agent, `prices` names
    the table of prices, `utc_offset_s` is that of the core's local days.
    """

    def __init__(
        self, start: UsageSnapshot | None = None, *, max_sessions: int = MAX_SESSIONS
    ) -> None:
        start = start or UsageSnapshot()
        self.sessions = {(each.agent, each.session): _restored(each) for each in start.sessions}
        self.revision = 0
        self.limits: Newest[str, ReportedLimits] = Newest(MAX_AGENTS)
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
        self._recent = LastHour(start.recent)
        self._begun = dict.fromkeys(start.begun)
        self._tools: Newest[tuple[str, str, str], Part] = Newest(MAX_TOOLS)
        for tool in start.tools:
            self._tools[tool.agent, tool.session, tool.part.id] = tool.part
        self._unreadable = sum(each.unreadable for each in self.sessions.values())
        self._max_sessions = max_sessions

    @property
    def spent(self) -> tuple[Spent, ...]:
        """The usage of every model on each day, by the source of the figure."""
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
        """Returns the local day of a moment, in days since 1970."""
        return (at_us + self.utc_offset_s * 1_000_000) // DAY_US

    def tool_cost(self, agent: str, session: str, call_id: str) -> Part | None:
        """Returns the model call that asked for a tool call, if the session's files hold it."""
        return self._tools.get((agent, session, call_id))

    def minutes(self, key: Key, now_us: int) -> tuple[Minute, ...]:
        """Returns the cost of one session in each minute of the last hour, where one is known."""
        return self._recent.minutes(key, now_us)

    def last_hour(self, now_us: int) -> int:
        """Returns the nano-dollars of the hour before a moment."""
        return self._recent.last_hour(now_us)

    def burn(self, now_us: int) -> Burn:
        """Returns the pace of spending, over the minutes before a moment."""
        return self._recent.burn(now_us)

    def counted_minutes(self, key: Key) -> tuple[Minute, ...]:
        """Returns the newest minutes of a session by its files."""
        return self._recent.counted_of(key)

    def snapshot(self) -> UsageSnapshot:
        """Returns all of it for a snapshot, as it is now; of turns and tool calls the newest."""
        newest = sorted(self.sessions.values(), key=lambda each: each.at)[-TURNS_SENT:]
        with_turns = {(each.agent, each.session) for each in newest}
        tools = list(self._tools.items())[-TOOLS_SENT:]
        return UsageSnapshot(
            sessions=tuple(
                _slim(each, turns=key in with_turns) for key, each in self.sessions.items()
            ),
            spent=self._gone.spent,
            ran=self.ran,
            recent=self._recent.snapshot(),
            begun=tuple(self._begun),
            tools=tuple(ToolUsage(agent=key[0], session=key[1], part=part) for key, part in tools),
            limits=dict(self.limits),
            utc_offset_s=self.utc_offset_s,
            prices=self.prices,
        )

    def set_utc_offset(self, utc_offset_s: Any) -> None:
        """Sets the core's offset from UTC in seconds; anything that is none is passed over."""
        if isinstance(utc_offset_s, int) and abs(utc_offset_s) < DAY_US // 1_000_000:
            self.utc_offset_s = utc_offset_s

    def note_running(self, at_us: int) -> None:
        """Notes that a core was running then (UTC µs)."""
        day = self.day_of(at_us)
        if (not self._ran or self._ran[-1] != day) and day not in self._ran:
            self._ran = sorted((*self._ran, day))[-MAX_DAYS:]
            self.revision += 1

    def started(self, key: Key, *, resumed: bool = False) -> None:
        """Notes that the session began anew, or (`resumed`) again: it may count from zero."""
        usage = self.sessions.get(key)
        if (usage is None or usage.reported.cost is None) and not resumed:
            self._begun[key] = None
            if len(self._begun) > self._max_sessions:
                del self._begun[next(iter(self._begun))]
        if usage is not None and usage.reported.meters:
            meters = tuple(
                msgspec.structs.replace(m, restarted=True) for m in usage.reported.meters
            )
            reported = msgspec.structs.replace(usage.reported, meters=meters)
            self.sessions[key] = msgspec.structs.replace(usage, reported=reported)

    def used(self, record: Record, *, label: str = "", model: str = "") -> None:
        """Takes in a `usage` record; `model` is the one that the session was last known to use."""
        if limits := record.data.get("limits"):
            self._limited(record, decoding.convert(limits, tuple[Limit, ...]))
            if not _tells_usage(record.data):
                return
        usage, key = self._usage_of(record, label), (record.agent or "", record.session or "")
        was, begun = usage.reported, key in self._begun
        day = self.day_of(record.at)
        usage = with_report(usage, record, day=day, model=model, begun=begun)
        now = usage.reported
        self._put(key, usage)
        more = None if now.cost is None else now.cost - (was.cost or 0)
        if was.cost is None and not begun:
            more = None  # what it had cost before it was first heard of was spent nobody knows when
        each = counts_in(record.data) == "each"
        tokens = _uncached(now) - _uncached(was) if was.tokens or begun or each else 0
        if more or tokens:
            self._recent.add_reported(key, record.at, more, tokens)
        if now.cost is not None:
            self._begun.pop(key, None)

    def counted(self, record: Record, data: CountedData, *, label: str = "") -> None:
        """Takes in the sums over a session's files (`usage.counted`)."""
        key = (record.agent or "", record.session or "")
        self.prices = data.prices or self.prices
        if data.limits:
            self.limits[key[0]] = ReportedLimits(at=record.at, limits=data.limits)
        for part in data.tools:
            self._tools[(*key, part.id)] = part
        self._recent.counted(key, data.minutes)
        self._put(key, with_file_sums(self._usage_of(record, label), data, record.at))

    def _limited(self, record: Record, reported: tuple[Limit, ...]) -> None:
        """Takes over the reported windows of an agent's account; the others stand as they were."""
        agent = record.agent or ""
        known = self.limits.get(agent)
        windows = {each.name: each for each in (*(known.limits if known else ()), *reported)}
        self.limits[agent] = ReportedLimits(
            at=record.at, limits=tuple(windows.values())[-MAX_LIMITS:]
        )
        self.revision += 1

    def _usage_of(self, record: Record, label: str) -> SessionUsage:
        key = (record.agent or "", record.session or "")
        usage = self.sessions.get(key)
        if usage is None:
            self._evict_oldest()
            return SessionUsage(agent=key[0], session=key[1], label=label)
        return msgspec.structs.replace(usage, label=label) if label else usage

    def _put(self, key: Key, usage: SessionUsage) -> None:
        """Replaces the session's usage, and its part of the days."""
        before = self.sessions.get(key)
        now = choose_figures(usage)
        self.sessions[key] = now
        self._days.change(before.spent if before else (), now.spent)
        self._unreadable += now.unreadable - (before.unreadable if before else 0)
        self.revision += 1

    def _evict_oldest(self) -> None:
        """Drops a quarter of the sessions at once; the days keep what they used."""
        if len(self.sessions) >= self._max_sessions:
            oldest = sorted(self.sessions.values(), key=_last_used)
            for each in oldest[: max(1, self._max_sessions // 4)]:
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


def _last_used(usage: SessionUsage) -> tuple[int, int]:
    """Returns its last day of usage, then when that was reported: files are read later."""
    return max((each.day for each in usage.spent), default=usage.at // DAY_US), usage.at


def _tells_usage(data: dict[str, Any]) -> bool:
    """Returns whether the record reports more than the account's limits."""
    names = (*Tokens.__struct_fields__, "total", "total_cost_usd", "context_used", "context_size")
    return any(data.get(name) is not None for name in names)


def _uncached(reported: ReportedUsage) -> int:
    """Returns the tokens read that no cache held, plus those written."""
    return reported.tokens.input + reported.tokens.output if reported.tokens else 0


def _slim(usage: SessionUsage, *, turns: bool) -> SessionUsage:
    """Returns the session without what follows from the rest of it."""
    if not _derives(usage):
        return usage
    return msgspec.structs.replace(usage, spent=(), subs=(), turns=usage.turns if turns else ())


def _restored(usage: SessionUsage) -> SessionUsage:
    return choose_figures(usage) if _derives(usage) else usage


def _derives(usage: SessionUsage) -> bool:
    """Returns whether its figures follow from what was reported and counted of it."""
    return usage.counted is not None or bool(usage.reported.meters)


def changed_since(fold: UsageFold, key: Key, data: CountedData) -> CountedData | None:
    """Returns the record to write: whole figures, and the parts that differ; None: nothing.

    Another price table alone, or a minute that is nearly an hour old, makes no record.
    """
    usage = fold.sessions.get(key)
    if not data.rows and (usage is None or usage.counted is None):
        return None
    turns = _changed(data.turns, usage.turns if usage is not None else ())
    tools = tuple(each for each in data.tools if fold.tool_cost(*key, each.id) != each)
    known = {each.at: each for each in fold.counted_minutes(key)}
    minutes = tuple(each for each in data.minutes if known.get(each.at) != each)
    known_limits = fold.limits.get(key[0])
    limits = data.limits if known_limits is None or known_limits.limits != data.limits else ()
    if usage is not None and usage.counted is not None and not (turns or tools or limits):
        before = (
            usage.counted.rows,
            usage.counted.source,
            usage.unreadable,
            usage.kinds,
            data.context_used if data.context_used is None else usage.context_used,
            data.context_size if data.context_size is None else usage.context_size,
        )
        now = (
            data.rows,
            data.source,
            data.unreadable,
            data.kinds,
            data.context_used,
            data.context_size,
        )
        if before == now:
            return None
    return msgspec.structs.replace(data, turns=turns, tools=tools, minutes=minutes, limits=limits)


def _changed(parts: Iterable[Part], known: Iterable[Part]) -> tuple[Part, ...]:
    by_id = {each.id: each for each in known}
    return tuple(each for each in parts if by_id.get(each.id) != each)
