"""A core that lives in the test: it feeds records and remembers what it was asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Unpack

import anyio
import msgspec

from watchgate.core.base.clock import Instant
from watchgate.core.model.agent_state import AgentState
from watchgate.core.model.records import Record
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost, NoCore
from watchgate.link.protocol import Presence, Push, Refusal, Request, Result, Snapshot, Verb

FOUND = (
    AgentState(agent="claude", title="Claude Code", is_present=True),
    AgentState(agent="codex", title="Codex", is_present=True),
)
"""Agents that are on the machine of the test's core, without hooks."""


class FakeClock:
    """A clock that stands still until the test moves it."""

    def __init__(self, wall_us: int, mono_s: float = 1000.0) -> None:
        self._now = Instant(wall_us, mono_s)

    def now(self) -> Instant:
        """The moment that the test chose."""
        return self._now

    def now_s(self) -> float:
        """The monotonic seconds of that moment."""
        return self._now.mono_s

    def advance(self, seconds: float) -> None:
        """Lets time pass on both clocks."""
        self._now = self._now.plus(seconds)


class FakeSession:
    """One connection to the test's core."""

    def __init__(self, source: FakeSource) -> None:
        self._source = source

    async def attach(self) -> Snapshot:
        """The snapshot that the test gave."""
        if self._source.mute:
            await anyio.sleep_forever()
        return self._source.snapshot

    async def batch(self) -> list[Push]:
        """Whatever the test fed since the last time."""
        source = self._source
        while not source.pushes:
            if source.lost is not None:
                raise CoreLost(source.lost)
            source.something = anyio.Event()
            await source.something.wait()
        pushes, source.pushes = source.pushes, []
        return pushes

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """Remembers the request and answers as the test wants."""
        if self._source.lost is not None:
            raise CoreLost(self._source.lost)
        if self._source.hangs:
            await anyio.sleep_forever()
        if verb == "hello":
            self._source.greeted += 1
            return Result(id=0)
        if verb == "presence":
            self._source.looked += 1
            if self._source.presence is None:
                return Refusal(id=0, refused="bad_request", message="no such verb")
            return Result(id=0, ok=msgspec.to_builtins(self._source.presence))
        if fields.get("what") == "agents":
            return Result(id=0, ok={"agents": msgspec.to_builtins(self._source.agents)})
        request = Request(id=len(self._source.asked) + 1, verb=verb, **fields)
        self._source.asked.append(request)
        return self._source.answer(request)


class FakeSource:
    """Where a console under test gets its records from."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.pushes: list[Push] = []
        self.asked: list[Request] = []
        self.answer: Callable[[Request], ControlAnswer] = lambda request: Result(id=request.id)
        self.lost: str | None = None
        self.absent = False
        self.hangs = False
        self.mute = False
        self.opened = 0
        self.greeted = 0
        self.presence: Presence | None = Presence(standing="clear")
        self.looked = 0
        self.agents: tuple[AgentState, ...] = FOUND
        self.something = anyio.Event()

    @asynccontextmanager
    async def open(self) -> AsyncIterator[FakeSession]:
        """A connection, unless the test says that there is no core."""
        self.opened += 1
        if self.absent:
            raise NoCore(Path("control.sock"), "nobody listens")
        yield FakeSession(self)

    def feed(self, *records: Record) -> None:
        """Lets the core push these records."""
        self.pushes += [Push(record=record) for record in records]
        self.something.set()

    def lose(self, reason: str = "it closed the connection") -> None:
        """Lets the core die, and stay dead."""
        self.lost, self.absent = reason, True
        self.something.set()

    def revive(self, snapshot: Snapshot) -> None:
        """Lets a core answer again."""
        self.lost, self.absent, self.snapshot = None, False, snapshot
