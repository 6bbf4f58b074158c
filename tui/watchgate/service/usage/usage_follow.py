"""Follows the usage of sessions while a core runs: sums of files and sources become records.

Everything slow is done in a thread. It looks each second, and a moment after anything happened
in a session, as an agent may report a call before it has written what that used. A record is
made where the state does not know the sum yet, one a second of each session at most.

Starts the counting of usage in a core: from its files, from a stand-in, or not at all.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread

from watchgate.core.base.bounded import Recent
from watchgate.core.base.clock import Clock
from watchgate.core.config.config import Config
from watchgate.core.model.events import Event, SessionChange
from watchgate.core.model.records import COUNTED, Draft, Record
from watchgate.core.usage.reported_calls import REPORT_KINDS
from watchgate.core.usage.session_usage import MAX_DAYS, Key
from watchgate.core.usage.usage_fold import DAY_US, MAX_SESSIONS, changed_since
from watchgate.link.paths import USAGE_CACHE, Paths
from watchgate.service.hub.core_environment import Environment
from watchgate.service.hub.hub import Hub
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError
from watchgate.service.prices.price_updates import fetch_if_old
from watchgate.service.prices.prices import prices_of
from watchgate.service.search.index_query import records_of_kinds
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.usage.usage_counter import CountedSession, UsageCounter

T = TypeVar("T")

EACH_S = 1.0
SOON_S = 0.25
PAUSE_S = 0.005
"""Between two slices of what is read at the start: everything else goes first."""
SLICE_BYTES = 8 << 20
TELL_BYTES = 64 << 20
"""If so much is to be read at the start, that is said, and that it is done."""
AT_ONCE = 20
"""Records made in a row; then whatever else waits has its turn."""
SAVE_S = 300.0
RENEW_S = 3_600.0
FAULT_S = 10.0


class UsageFollow:
    """Watches one core's records, and the events of its sessions."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        counting: UsageCounter,
        *,
        journal: Path | None = None,
        fetch: Callable[[int], str] | None = None,
    ) -> None:
        """Counts nothing yet.

        Args:
            hub: The core's hub.
            clock: Source of UTC time.
            counting: Does the slow part, in a thread.
            journal: The journal, for what earlier cores recorded.
            fetch: Gets newer prices at a time (UTC µs), and returns what it did, if anything.
        """
        self._fetch = fetch
        self._hub = hub
        self._clock = clock
        self._counting = counting
        self._journal = journal
        self._began_at = hub.recorder.state.seq
        self._woken = anyio.Event()
        self._soon: float | None = None
        self._next = 0.0
        self._recorded_at: Recent[Key, float] = Recent(MAX_SESSIONS)
        self._late: dict[Key, CountedSession] = {}
        self._faults: set[str] = set()
        self._unreadable = 0
        self._renewed = 0.0
        self._one = anyio.CapacityLimiter(1)

    def offer(self, record: Record) -> None:
        """Takes a record: it may report usage, or show that a file may have grown."""
        if record.session is None or record.kind == COUNTED:
            return
        if record.kind in REPORT_KINDS:
            self._counting.tell(record)
        if self._soon is None:
            self._soon = anyio.current_time() + SOON_S
            self._woken.set()

    def on_event(self, event: Event) -> None:
        """Takes an event: it may name the transcript of its session."""
        body = event.body
        if isinstance(body, SessionChange) and body.transcript:
            self._counting.note(event.agent, event.session, body.transcript)

    async def run(self) -> None:
        """Follows until cancelled."""
        async with anyio.create_task_group() as tasks:
            if self._fetch is not None:
                tasks.start_soon(self._keep_prices, self._fetch)
            await self._follow()

    async def _keep_prices(self, fetch: Callable[[int], str]) -> None:
        """Fetches newer prices now and then, which nothing waits for."""
        while True:
            with contain_errors(self._failed):
                words = await anyio.to_thread.run_sync(
                    fetch, self._now_us(), abandon_on_cancel=True
                )
                if words and words not in self._faults:
                    self._faults.add(words)
                    self._notice("usage.prices", words)
                self._renewed = 0.0
            await anyio.sleep(RENEW_S)

    async def _follow(self) -> None:
        with contain_errors(self._failed):
            await self._thread(self._begin)
            await self._read_all()
        saved = self._renewed = anyio.current_time()
        while True:
            await self._wait()
            with contain_errors(self._failed):
                await self._round()
                now = anyio.current_time()
                if now - saved >= SAVE_S:
                    saved = now
                    await self._thread(self._counting.save)
                if now - self._renewed >= RENEW_S:
                    self._renewed = now
                    await self._thread(self._counting.renew, self._now_us())

    def _begin(self) -> None:
        """Takes in, in the thread, what earlier cores recorded and no file holds."""
        self._counting.open()
        if self._journal is None:
            return
        first_us = self._now_us() - MAX_DAYS * DAY_US
        try:
            first, last = journal_reader.in_time(
                self._journal, *journal_reader.ends(self._journal), first_us, None
            )
            last = min(last, self._began_at)
            self._counting.remember(records_of_kinds(self._journal, REPORT_KINDS, first, last))
        except JournalError:
            pass  # the host has said so already

    async def _read_all(self) -> None:
        """Reads the files as they are at the start, the newest first.

        No record is made of a session that the state knows before all is read: what a core counted
        before was of all files, and a part of them would take that back for a while.
        """
        while self._hub.recorder.remembering:  # noqa: ASYNC110 - what is known comes in another task
            await anyio.sleep(PAUSE_S)
        known = {
            key
            for key, session in self._hub.recorder.state.usage.sessions.items()
            if session.counted is not None
        }
        announced = False
        shown = anyio.current_time()
        while left := await self._thread(self._counting.read, SLICE_BYTES):
            if left > TELL_BYTES and not announced:
                announced = True
                self._notice(
                    "usage.reading",
                    f"{left >> 20} MiB of agents' files are being read: "
                    "until that is done, what older sessions cost is missing",
                )
            if anyio.current_time() - shown >= EACH_S:
                shown = anyio.current_time()
                await self._say(await self._counted(known))
            await anyio.sleep(PAUSE_S)
        await self._say(await self._counted(()))
        if announced:
            self._notice("usage.reading", "all files of agents are read")
        if remark := self._counting.prices.remark():
            self._notice("usage.prices", remark)
        await self._thread(self._counting.save)
        self._next = anyio.current_time() + EACH_S

    async def _wait(self) -> None:
        """Waits for the next second, or a moment after something happened."""
        while (now := anyio.current_time()) < self._due():
            self._woken = anyio.Event()
            with anyio.move_on_after(self._due() - now):
                await self._woken.wait()
        if self._soon is not None and self._soon <= now:
            self._soon = None
            self._next = now + EACH_S - SOON_S
        else:
            self._next = now + EACH_S

    def _due(self) -> float:
        return self._next if self._soon is None else min(self._next, self._soon)

    async def _round(self) -> None:
        """Reads what is new, and makes records of it."""
        if await self._thread(self._counting.read, SLICE_BYTES):
            self._next = 0.0
        files = self._counting.unreadable_files()
        if files > self._unreadable:
            self._notice(
                "usage.unreadable",
                f"{files} files that tell of usage cannot be read: "
                "what they hold is missing in the costs",
            )
        self._unreadable = files
        late, self._late = self._late, {}
        fresh = {each.key: each for each in await self._counted(())}
        await self._say([*(late | fresh).values()])

    async def _counted(self, but: Sequence[Key] | set[Key]) -> list[CountedSession]:
        now_us = self._now_us()
        return await self._thread(lambda: self._counting.counted(now_us, but=but))

    async def _say(self, counted: Sequence[CountedSession]) -> None:
        """Makes records of what the state does not know."""
        made = 0
        for each in counted:
            now = anyio.current_time()
            if now - self._recorded_at.get(each.key, 0.0) < EACH_S or not self._hub.recorder.roomy:
                self._late[each.key] = each
                continue
            data = changed_since(self._hub.recorder.state.usage, each.key, each.data)
            if data is None:
                continue
            self._recorded_at.renew(each.key, now)
            agent, session = each.key
            self._hub.catch_up()
            self._hub.recorder.record(
                Draft(kind=COUNTED, at=self._now_us(), agent=agent, session=session, data=data)
            )
            made += 1
            if made % AT_ONCE == 0:
                await anyio.lowlevel.checkpoint()

    async def _thread(self, call: Callable[..., T], *args: object) -> T:
        return await anyio.to_thread.run_sync(
            call, *args, abandon_on_cancel=True, limiter=self._one
        )

    def _notice(self, native: str, words: str) -> None:
        self._hub.catch_up()
        self._hub.recorder.notice(native, words)

    def _failed(self, fault: str) -> None:
        """Records a fault once, and goes on all the same."""
        self._next = anyio.current_time() + FAULT_S
        if fault not in self._faults:
            self._faults.add(fault)
            self._hub.recorder.internal_error(fault, "counting what sessions use")

    def _now_us(self) -> int:
        return self._clock.now().wall_us


def usage_following(
    hub: Hub, clock: Clock, stage: Environment, config: Config, paths: Paths
) -> Callable[[], Coroutine[Any, Any, None]] | None:
    """Subscribes to the hub; returns what to run until the core ends, None to count nothing.

    Args:
        hub: The core's hub.
        clock: Source of UTC time.
        stage: The environment, which may hold a stand-in for the files.
        config: The configuration.
        paths: Watchgate's own paths.
    """
    if stage.counted is not None:
        stand_in = stage.counted
        return lambda: _record_all(hub, stand_in())
    if stage.proc is None and not stage.places:
        return None
    counting = UsageCounter(
        stage.places if config.costs.transcripts else (),
        lambda: prices_of(config, paths, clock.now().wall_us),
        cache=paths.state_dir / USAGE_CACHE,
    )
    fetch = (lambda now_us: fetch_if_old(paths, now_us)) if config.costs.update_prices else None
    follow = UsageFollow(hub, clock, counting, journal=paths.journal, fetch=fetch)
    hub.recorder.watchers.add(follow)
    others = hub.observed.on_session_event

    def on_event(event: Event) -> None:
        follow.on_event(event)
        others(event)

    hub.observed.on_session_event = on_event
    return follow.run


async def _record_all(hub: Hub, drafts: AsyncIterator[Draft]) -> None:
    async for draft in drafts:
        hub.catch_up()
        hub.recorder.record(draft)
