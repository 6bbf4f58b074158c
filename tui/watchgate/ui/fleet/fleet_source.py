"""Several cores as one source: their records in one numbering, each request to its own core.

The pictures of the hosts are merged into one. `SshSource` reaches the core of another machine.
"""

from __future__ import annotations

from collections import ChainMap, deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from heapq import merge
from types import MappingProxyType
from typing import NoReturn, Unpack

import anyio
import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.model.call_row import CallRow
from watchgate.core.model.views import Settled, Totals
from watchgate.core.state.gate_folds import GATE_FOLDS
from watchgate.core.state.hosts import common_gate
from watchgate.core.state.state import DAY_US, MAX_SETTLED
from watchgate.core.state.traces import MAX_TRACES, TraceView
from watchgate.core.usage.budget import Budgets
from watchgate.core.usage.session_usage import ReportedLimits
from watchgate.core.usage.usage_fold import UsageSnapshot
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost, LinkError
from watchgate.link.omitted_values import Renewed, WholeSession
from watchgate.link.protocol import Push, Snapshot, Verb
from watchgate.link.ssh import Target, connect_ssh
from watchgate.ui.fleet.fleet_calls import Calls
from watchgate.ui.fleet.fleet_host import STARTED, Host
from watchgate.ui.fleet.foreign_records import REQUESTS_MAX, asks_too_much, checked, cut_reason
from watchgate.ui.source.record_source import (
    Batch,
    HostStates,
    Merged,
    RecordSource,
    Session,
    wait_s,
)

LEVELS = ("free", "warned", "used-up")


def picture(
    hosts: Sequence[Host], seq: int, now_us: int, titles: Mapping[str, str] = MappingProxyType({})
) -> Merged:
    """Returns the picture of all hosts after the record `seq` of the common numbering.

    An agent has its title from `titles`, else from the first host that names it: another machine
    cannot rename an agent that is known here.

    Calls, traces and ends are in the order of their times; the rest is in the order of the hosts.
    """
    states = [host.state for host in hosts]
    views = tuple(host.view for host in hosts)
    return Merged(
        seq=seq,
        core=" ".join(state.core for state in states if state.core),
        now=now_us,
        gate=common_gate(views, now_us),
        sessions=tuple(view for state in states for view in state.sessions.values()),
        pending=tuple(view for state in states for view in state.pending.values()),
        grants=tuple(view for state in states for view in state.grants.values()),
        totals=_totals(state.totals for state in states if state.at // DAY_US >= now_us // DAY_US),
        usage=usage_of_all([state.usage.snapshot() for state in states]),
        budgets=_budgets(state.budgets for state in states),
        settled=tuple(merge(*(state.settled for state in states), key=_at))[-MAX_SETTLED:],
        rows=tuple(merge(*(state.rows for state in states), key=_at)),
        traces=tuple(merge(*(state.traces.ring for state in states), key=_at))[-MAX_TRACES:],
        titles=dict(ChainMap({}, dict(titles), *(host.titles for host in hosts))),
        hosts=views,
    )


def _at(each: CallRow | Settled | TraceView) -> int:
    return each.at


def _totals(every: Iterable[Totals]) -> Totals:
    sums = dict.fromkeys(Totals.__struct_fields__, 0)
    since = 0
    for totals in every:
        since = max(since, totals.since)
        for name in sums:
            sums[name] += getattr(totals, name)
    return Totals(**sums | {"since": since})


def _budgets(every: Iterable[Budgets]) -> Budgets:
    """Merges budgets; of several days' budgets the one nearest to its end stays."""
    all_budgets: Budgets = {}
    for budgets in every:
        for key, each in budgets.items():
            known = all_budgets.get(key)
            if known is None or LEVELS.index(each.level) > LEVELS.index(known.level):
                all_budgets[key] = each
    return all_budgets


def usage_of_all(every: Sequence[UsageSnapshot]) -> UsageSnapshot:
    """Sessions and calls are named by their host; days and accounts are of all of them together."""
    limits: dict[str, ReportedLimits] = {}
    for usage in every:
        for agent, report in usage.limits.items():
            if agent not in limits or report.at > limits[agent].at:
                limits[agent] = report
    return UsageSnapshot(
        sessions=tuple(each for usage in every for each in usage.sessions),
        spent=tuple(each for usage in every for each in usage.spent),
        ran=tuple(sorted({day for usage in every for day in usage.ran})),
        recent=tuple(each for usage in every for each in usage.recent),
        begun=tuple(key for usage in every for key in usage.begun),
        tools=tuple(each for usage in every for each in usage.tools),
        limits=limits,
        utc_offset_s=every[0].utc_offset_s if every else 0,
        prices=next((usage.prices for usage in every if usage.prices), ""),
    )


class SshSource:
    """The core of another machine; `program` stands for ssh.

    Where none runs there, one is started, but only until it has answered once: a core that somebody
    stopped stays stopped.
    """

    def __init__(self, target: Target, program: Sequence[str] = ("ssh",)) -> None:
        self._target = target
        self._program = tuple(program)
        self._start = True

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Session]:
        """Starts ssh anew."""
        start = self._start
        async with connect_ssh(self._target, program=self._program, start=start) as client:
            self._start = False
            yield WholeSession(client)


SLICE = 500
"""Lines of one host that are taken at once: about 5 ms."""

STEADY_S = 30.0
"""Seconds after which a connection counts as good: its machine may be tried again at once."""

GAP_MAX = 1_000_000_000
"""Records that one gap can stand for."""

ATTACH_S = 30.0
"""Seconds that a core which has greeted may take for its first picture."""

Sleep = Callable[[float], Awaitable[None]]


class NoHost(LinkError):
    """None of the cores could be reached; the message says why, for each of them."""


class FleetSource:
    """The cores of several machines, named; the first one is that of this machine if `local`.

    It opens as soon as one of them answers. The others come when they do, and one that is lost is
    tried again while the rest goes on; the last records of each stay meanwhile.

    Args:
        sources: The way to each core, by the name of its host.
        clock: The clock of this machine.
        local: True where the first core is that of this machine.
        sleep: Waits for some seconds.
        titles: The names of the agents that this program knows; no host can change them.
    """

    def __init__(
        self,
        sources: Mapping[str, RecordSource],
        clock: Clock,
        *,
        local: bool = True,
        sleep: Sleep = anyio.sleep,
        titles: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._titles = titles
        self.hosts = [
            Host(name, source, local=local and place == 0)
            for place, (name, source) in enumerate(sources.items())
        ]
        self._clock = clock
        self._sleep = sleep
        self._seq = 0

    @asynccontextmanager
    async def open(self) -> AsyncIterator[FleetSession]:
        """Connects to all; raises `NoHost` when none answers."""
        session = FleetSession(self.hosts, self._clock, self._sleep, self._seq, self._titles)
        try:
            async with anyio.create_task_group() as tasks:
                for host in self.hosts:
                    host.connecting(self._clock.now().wall_us)
                    tasks.start_soon(session.follow, host)
                await session.first()
                yield session
                tasks.cancel_scope.cancel()
        except BaseExceptionGroup as group:
            # Following raises nothing but what is a fault, or what came from the caller's block.
            raise group.exceptions[0] from None
        finally:
            session.close()
            self._seq = session.seq


class FleetSession:
    """One connection to several cores; `seq` numbers what it has brought.

    Args:
        hosts: The cores.
        clock: The clock of this machine.
        sleep: Waits for some seconds.
        seq: The number of the last record that an earlier session brought.
        titles: The names of agents that no host can change.
    """

    def __init__(
        self,
        hosts: list[Host],
        clock: Clock,
        sleep: Sleep,
        seq: int,
        titles: Mapping[str, str],
    ) -> None:
        self.seq = seq
        self._titles = titles
        self._hosts = hosts
        self._clock = clock
        self._sleep = sleep
        self._out: deque[Batch] = deque()
        self._tell, self._news = anyio.create_memory_object_stream[_News](len(hosts))
        self._calls = Calls(hosts, clock)

    async def attach(self) -> Snapshot:
        """Returns the picture of the hosts that answer so far."""
        self._out.clear()
        return self._picture()

    async def batch(self) -> Batch:
        """Returns the news of one of them; raises `CoreLost` when none of them answers any more."""
        while not self._out:
            self._take(await self._news.receive())
            if not any(host.view.here for host in self._hosts):
                raise CoreLost(self._why_none())
        return self._out.popleft()

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """The answer of the core that it is about, or of all of them."""
        return await self._calls(verb, **fields)

    def close(self) -> None:
        """Ends the reports of all hosts."""
        self._tell.close()
        self._news.close()

    async def first(self) -> None:
        """Waits until one of them answers; raises `NoHost` when all were tried in vain."""
        while not any(host.view.here for host in self._hosts):
            self._take(await self._news.receive())
            if all(host.view.state == "lost" for host in self._hosts):
                raise NoHost(self._why_none())

    async def follow(self, host: Host) -> NoReturn:
        """Passes on what one of them brings, and attaches again whenever it was lost."""
        tries = 0
        while True:
            attached_s: float | None = None
            try:
                async with host.source.open() as session:
                    asked_us = self._clock.now().wall_us
                    snapshot = await _attach(session)
                    answered = self._clock.now()
                    shift_us = shift(asked_us, snapshot.now, answered.wall_us)
                    attached_s = answered.mono_s
                    await self._tell.send(_Attached(host, session, snapshot, shift_us))
                    while True:
                        batch = await session.batch()
                        if isinstance(batch, Renewed):
                            anew = _Attached(host, session, checked(batch), shift_us)
                            await self._tell.send(anew)
                        else:
                            await self._pass_on(host, batch)
            except LinkError as gone:
                steady_since_s = self._clock.now().mono_s - STEADY_S
                held = attached_s is not None and attached_s <= steady_since_s
                tries = 1 if held else tries + 1
                await self._tell.send(_Lost(host, cut_reason(str(gone)), tries))
            await self._sleep(wait_s(tries))

    async def _pass_on(self, host: Host, batch: Batch) -> None:
        if not isinstance(batch, list):
            raise CoreLost("several machines were found behind one name")
        for start in range(0, len(batch), SLICE):
            lines = batch[start : start + SLICE]
            await self._tell.send(_Lines(host, lines))
            closed = next((line.closed for line in lines if line.closed is not None), None)
            if closed is not None:
                raise CoreLost(closed)
            if len(host.state.pending) > REQUESTS_MAX:
                raise asks_too_much()

    def _take(self, news: _News) -> None:
        now_us = self._clock.now().wall_us
        if isinstance(news, _Attached):
            self.seq = max(self.seq, news.snapshot.seq)
            news.host.attached(
                news.session, news.snapshot, shift_us=news.shift_us, now_us=now_us, seq=self.seq
            )
            self._out.append(self._picture())
        elif isinstance(news, _Lost):
            news.host.lost(news.why, news.tries, now_us)
            self._out.append(self._hosts_now())
        elif news.host.session is not None:
            self._lines(news.host, news.lines, now_us)

    def _lines(self, host: Host, lines: list[Push], now_us: int) -> None:
        """Numbers the lines of a host; those about its own gate change its state."""
        passed: list[Push] = []
        anew = False
        for line in lines:
            if line.gap is not None:
                first = self.seq + 1
                self.seq += left_out(line.gap)
                passed.append(Push(gap=(first, self.seq)))
            record = line.record and host.take(line.record, self.seq + 1, now_us)
            if record is None:
                continue
            self.seq += 1
            anew = anew or record.kind == STARTED
            if record.kind in GATE_FOLDS:
                if passed:
                    self._out.append(passed)
                    passed = []
                elif self._out and isinstance(self._out[-1], HostStates):
                    self._out.pop()  # nothing came between the two
                self._out.append(self._hosts_now())
            elif record.kind != STARTED:
                passed.append(Push(record=record))
        if anew:
            # A core that starts has forgotten what it asked; the other ones have not.
            self._out.clear()
            self._out.append(self._picture())
        elif passed:
            self._out.append(passed)

    def _picture(self) -> Snapshot:
        return picture(self._hosts, self.seq, self._clock.now().wall_us, self._titles)

    def _hosts_now(self) -> HostStates:
        return HostStates(tuple(host.view for host in self._hosts))

    def _why_none(self) -> str:
        return "; ".join(f"{host.name}: {host.view.why}" for host in self._hosts if host.view.why)


class _Attached(msgspec.Struct, frozen=True):
    host: Host
    session: Session
    snapshot: Snapshot
    shift_us: int


class _Lost(msgspec.Struct, frozen=True):
    host: Host
    why: str
    tries: int


class _Lines(msgspec.Struct, frozen=True):
    host: Host
    lines: list[Push]


_News = _Attached | _Lost | _Lines


async def _attach(session: Session) -> Snapshot:
    """The first picture of a host; raises `CoreLost` for one that none can be had of."""
    try:
        with anyio.fail_after(ATTACH_S):
            return checked(await session.attach())
    except TimeoutError:
        raise CoreLost(f"it greeted, and told nothing within {ATTACH_S:g} s") from None


def left_out(gap: tuple[int, int]) -> int:
    """Counts the records of a gap: numbers never go back, whatever a core says of it."""
    return min(max(0, gap[1] - gap[0] + 1), GAP_MAX)


def shift(asked_us: int, its_us: int, answered_us: int) -> int:
    """Returns the shift to our time of another machine, from when it was asked and had answered.

    A time between the two is as right as can be told, and is left as it is.
    """
    if asked_us <= its_us <= answered_us:
        return 0
    return (asked_us + answered_us) // 2 - its_us
