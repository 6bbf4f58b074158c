"""The bridge from records to the state that the screen shows, of one core or of several.

One task reads; it folds records in slices so that a key is never more than a slice away, and it
survives the core: the last picture stays, and the next snapshot replaces it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Literal, Unpack

import anyio
import anyio.lowlevel
import msgspec

from watchgate.core.base.clock import Clock
from watchgate.core.state.state import State
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost, LinkError
from watchgate.link.omitted_values import Renewed, renewed_rows
from watchgate.link.protocol import Push, Request, Snapshot, Verb
from watchgate.link.snapshots import restored
from watchgate.ui.source.agent_titles import use_titles
from watchgate.ui.source.record_source import (
    Batch,
    HostStates,
    Merged,
    RecordSource,
    Session,
    wait_s,
)

SLICE = 500
"""Records folded before other tasks get their turn: about 5 ms."""

HELLO_S = 30.0
"""Seconds between two reports to the core that somebody is at the keys."""

URGENT = ("approval.requested", "approval.decided")


class Link(msgspec.Struct, frozen=True, kw_only=True):
    """The console's link to its core; times are UTC µs of this machine."""

    state: Literal["connecting", "attached", "lost"] = "connecting"
    since_us: int = 0
    tries: int = 0
    retry_at_us: int = 0
    why: str = ""

    @property
    def lost(self) -> bool:
        """Returns whether the picture is an old one."""
        return self.state == "lost"


class Bridge:
    """Holds the state of what is behind a source and keeps it up to date.

    `wake` is called when something came that nobody should wait for; everything else is found by
    whoever compares `revision`.
    """

    def __init__(
        self,
        source: RecordSource,
        clock: Clock,
        wake: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self.source = source
        self.state = State()
        self.link = Link()
        self.revision = 0
        self.skipped = 0
        self._clock = clock
        self._wake = wake
        self._sleep = sleep
        self._ahead_us = 0
        self._session: Session | None = None
        self._greeted_s = float("-inf")
        self._retry = anyio.Event()

    def now_us(self) -> int:
        """The core's wall clock (UTC µs), estimated from this machine's."""
        return self._clock.now().wall_us + self._ahead_us

    def retry_now(self) -> None:
        """Tries to reach the core at once instead of waiting longer."""
        self._retry.set()

    async def run(self) -> None:
        """Attaches, follows, and attaches again, until cancelled."""
        while True:
            try:
                async with self.source.open() as session:
                    self._attached(session, await session.attach())
                    while True:
                        await self._take(await session.batch())
            except LinkError as gone:
                self._lost(str(gone))
            await self._pause()

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """Asks the core for something; raises `CoreLost` when it is not there."""
        if self._session is None:
            raise CoreLost("not attached")
        return await self._session.call(verb, **fields)

    def unaware(self, now_s: float) -> bool:
        """Returns whether a key press is news to the core (`now_s` monotonic); once in a while."""
        if self._session is None or now_s - self._greeted_s < HELLO_S:
            return False
        self._greeted_s = now_s
        return True

    async def hello(self) -> None:
        """Tells the core that somebody is here; nothing is lost when it is gone."""
        try:
            await self.call("hello")
        except CoreLost:
            return

    async def ask(self, request: Request) -> ControlAnswer:
        """Sends a decision; raises `CoreLost`, and then nobody knows whether it counted."""
        return await self.call(
            request.verb,
            request=request.request,
            digest=request.digest,
            decision=request.decision,
            reason=request.reason,
            answers=request.answers,
            scope=request.scope,
            rules=request.rules,
            width=request.width,
            input=request.input,
            stop=request.stop,
            shown_ms=request.shown_ms,
            confirmed=request.confirmed,
            seconds=request.seconds,
        )

    def _attached(self, session: Session, snapshot: Snapshot) -> None:
        self._session = session
        self._greeted_s = float("-inf")
        self.link = Link(state="attached", since_us=self._clock.now().wall_us)
        self._show(snapshot)

    async def _take(self, batch: Batch) -> None:
        if isinstance(batch, Snapshot):
            self._show(batch)
        elif isinstance(batch, HostStates):
            self.state.set_hosts(batch.views, self.now_us())
            self._changed(urgent=True)
        else:
            await self._fold(batch)

    def _show(self, snapshot: Snapshot) -> None:
        self._ahead_us = snapshot.now - self._clock.now().wall_us
        hosts = snapshot.hosts if isinstance(snapshot, Merged) else ()
        if isinstance(snapshot, Renewed):
            rows = tuple(renewed_rows(self.state.rows, snapshot))
            snapshot = msgspec.structs.replace(snapshot, rows=rows)
        self.skipped = 0
        use_titles(snapshot.titles)
        self.state = restored(snapshot, hosts)
        self._changed(urgent=True)

    async def _fold(self, pushes: list[Push]) -> None:
        for start in range(0, len(pushes), SLICE):
            if start:
                await anyio.lowlevel.checkpoint()
            urgent = False
            for push in pushes[start : start + SLICE]:
                if push.closed is not None:
                    raise CoreLost(push.closed)
                if push.gap is not None:
                    self.skipped += push.gap[1] - push.gap[0] + 1
                if push.record is not None:
                    self.state.apply(push.record)
                    urgent = urgent or push.record.kind in URGENT
            self._changed(urgent=urgent)

    def _lost(self, why: str) -> None:
        self._session = None
        now_us = self._clock.now().wall_us
        since = self.link.since_us if self.link.lost else now_us
        tries = self.link.tries + 1 if self.link.lost else 1
        self.link = Link(
            state="lost",
            since_us=since,
            tries=tries,
            retry_at_us=now_us + int(wait_s(tries) * 1_000_000),
            why=why,
        )
        self._changed(urgent=True)

    async def _pause(self) -> None:
        left_s = (self.link.retry_at_us - self._clock.now().wall_us) / 1_000_000
        self._retry = anyio.Event()
        async with anyio.create_task_group() as group:

            async def sleep() -> None:
                await self._sleep(left_s)
                group.cancel_scope.cancel()

            group.start_soon(sleep)
            await self._retry.wait()
            group.cancel_scope.cancel()

    def _changed(self, *, urgent: bool) -> None:
        self.revision += 1
        if urgent:
            self._wake()
