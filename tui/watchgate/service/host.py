"""A running core: builds its parts, serves both sockets, and ends closed."""

from __future__ import annotations

import asyncio
import secrets
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketListener, TaskStatus

from watchgate.agents.registry import ADAPTERS
from watchgate.core.chain import Chain
from watchgate.core.clock import Clock
from watchgate.core.config import Config
from watchgate.core.engine import Engine
from watchgate.core.ids import request_id
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.records import CoreData
from watchgate.core.redact import journal_json
from watchgate.core.state import DAY_US, State
from watchgate.link.paths import Paths
from watchgate.service import journal_read
from watchgate.service.accepting import serve
from watchgate.service.askers import Askers
from watchgate.service.boundary import each_contained
from watchgate.service.control import Control
from watchgate.service.gathering import MOMENT_S
from watchgate.service.hub import Hub, Loop
from watchgate.service.ingest import Ingest
from watchgate.service.journal import Journal
from watchgate.service.peer import agent_of
from watchgate.service.process_table import Proc, ancestors
from watchgate.service.recorder import Recorder
from watchgate.service.runners.background import ObserverQueue
from watchgate.service.runners.desk import Desk
from watchgate.service.runtime_dir import RuntimeDir
from watchgate.service.verbs import Verbs

DRAIN_S = 1.0
JOURNAL_LOOK_S = 0.25


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """What surrounds a core: ids, the home folder, its own files, and who a peer works for."""

    ids: Callable[[], str]
    home: str
    protected: tuple[str, ...]
    agent_of: Callable[[int], Proc | None]


def real_stage(paths: Paths) -> Stage:
    """Random ids, this user's home, and the kernel's word on processes."""
    own = (paths.runtime_dir, paths.state_dir, paths.config.parent, paths.data_dir)
    return Stage(
        ids=lambda: request_id(secrets.token_bytes(16)),
        home=str(Path.home()),
        protected=tuple(str(path) for path in own),
        agent_of=lambda pid: agent_of(ancestors(pid)),
    )


class Host:
    """One core in this process. `run` returns when it was stopped; every open gate is answered."""

    def __init__(
        self, paths: Paths, config: Config, clock: Clock, stage: Stage | None = None
    ) -> None:
        self._stage = stage or real_stage(paths)
        self.core = request_id(secrets.token_bytes(16))[:8]
        self._paths = paths
        self._config = config
        self._clock = clock
        self._stopped = anyio.Event()
        self._stopped_by = "signal"
        self._woken = anyio.Event()
        self._unread: list[str] = []

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until stopped; `task_status` is told when both sockets accept."""
        with ExitStack() as closing:
            directory = closing.enter_context(RuntimeDir(self._paths))
            journal = Journal.open(self._paths.journal)
            closing.callback(journal.close)
            desk = Desk({}, ObserverQueue(), self._clock)
            hub = self._hub(journal, desk)
            closing.callback(hub.catch_up)  # however the core ends
            ingest = await SocketListener.from_socket(directory.bind(self._paths.ingest_socket))
            control = await SocketListener.from_socket(directory.bind(self._paths.control_socket))
            verbs = Verbs(
                hub,
                self._clock,
                core=self.core,
                journal=self._paths.journal,
                off=self._paths.off,
                stop=self.stop,
            )
            async with ingest, control, anyio.create_task_group() as tasks:
                await tasks.start(desk.serve, hub.heard)
                started = CoreData(what="core started", profile=self._config.profile)
                hub.recorder.about_core("policy.started", started)
                fault = journal.fault or (self._unread and f"unreadable: {self._unread[0]}")
                if fault:
                    found = CoreData(what="the journal is not what was written", detail=fault)
                    hub.recorder.about_core("policy.fault", found)
                tasks.start_soon(serve, ingest, Ingest(hub).handle, hub.cannot_accept)
                tasks.start_soon(serve, control, Control(verbs).handle, hub.cannot_accept)
                tasks.start_soon(self._deadlines, hub)
                tasks.start_soon(self._watch_journal, hub, journal)
                task_status.started()
                await self._stopped.wait()
                await self._end(hub)
                tasks.cancel_scope.cancel()

    def stop(self, by: str) -> None:
        """End the core; `by` is recorded."""
        self._stopped_by = by
        self._stopped.set()

    async def stop_on_signal(self) -> None:
        """End the core on SIGTERM and SIGINT; SIGHUP is ignored, the core outlives terminals."""
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
            async for number in signals:
                if number is not signal.SIGHUP:
                    self.stop(signal.Signals(number).name)
                    return

    def _hub(self, journal: Journal, desk: Desk) -> Hub:
        stage = self._stage
        gate = PolicyGate(self._config.profile, home=stage.home, protected=stage.protected)
        state = State()
        today = self._clock.now().wall_us // DAY_US * DAY_US
        # A record that was tampered with must not keep every gate closed until someone repairs it.
        each_contained(
            journal_read.since(self._paths.journal, today), state.apply, self._unread.append
        )
        content = self._config.journal.content
        # The journal's thread must never wait for the loop: the loop waits for it when it closes.
        loop = asyncio.get_running_loop()
        chain = Chain(self.core, journal.head, lambda data: journal_json(data, content))
        return Hub(
            engine=Engine(self._config, gate, stage.ids),
            recorder=Recorder(chain, journal, state, self._clock),
            clock=self._clock,
            adapters=ADAPTERS,
            loop=Loop(
                later=lambda call: loop.call_later(MOMENT_S, call),
                soon=loop.call_soon_threadsafe,
                wake=self._wake,
            ),
            agent_of=stage.agent_of,
            desk=desk,
            askers=Askers(),
        )

    def _wake(self) -> None:
        self._woken.set()

    async def _deadlines(self, hub: Hub) -> None:
        while True:
            self._woken = anyio.Event()
            due = hub.engine.next_deadline()
            # A suspended machine does not run timers on time, so look again at least every second.
            left = 1.0 if due is None else min(max(due - self._clock.now().mono_s, 0.0), 1.0)
            with anyio.move_on_after(left if due is not None else None):
                await self._woken.wait()
            hub.expire_due()

    async def _watch_journal(self, hub: Hub, journal: Journal) -> None:
        while True:
            hub.journal_state(journal.lost)
            await anyio.sleep(JOURNAL_LOOK_S)

    async def _end(self, hub: Hub) -> None:
        hub.catch_up()
        now = self._clock.now()
        hub.recorder.about_core(
            "policy.stopped", CoreData(what="core stopped", name=self._stopped_by)
        )
        hub.execute(hub.engine.close_all("denied-core-stopped", "the core was stopped", now))
        with anyio.move_on_after(DRAIN_S):
            while hub.unanswered:  # noqa: ASYNC110 - for a second at most, at the very end
                await anyio.sleep(0.01)
