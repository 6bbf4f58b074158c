"""A running core: builds its parts, serves both sockets, and ends closed."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketListener, TaskGroup, TaskStatus

from watchgate.agents.base import Adapter
from watchgate.agents.traits import traits_in
from watchgate.core.chain import Chain
from watchgate.core.clock import Clock
from watchgate.core.config import Config
from watchgate.core.engine import Engine
from watchgate.core.handlers import Handler
from watchgate.core.ids import request_id
from watchgate.core.policy.gate import PolicyGate
from watchgate.core.presets import preset_of
from watchgate.core.records import CoreData
from watchgate.core.redact import journal_json
from watchgate.core.state import DAY_US, State
from watchgate.link.paths import Paths
from watchgate.service import journal_read
from watchgate.service.accepting import serve
from watchgate.service.agents import adapters
from watchgate.service.askers import Askers
from watchgate.service.boundary import each_contained
from watchgate.service.control import Control
from watchgate.service.coverage.processes import PROC
from watchgate.service.coverage.rounds import Rounds
from watchgate.service.equipment import equip, warnings
from watchgate.service.facts.watch import FactsWatch
from watchgate.service.gathering import MOMENT_S
from watchgate.service.grant_store import GrantStore
from watchgate.service.hub import Hub, Loop
from watchgate.service.ingest import Ingest
from watchgate.service.journal import Journal
from watchgate.service.keeping import keep, write
from watchgate.service.past_usage import remember_usage
from watchgate.service.peer import agent_of
from watchgate.service.policy.links import LinkFinder
from watchgate.service.policy.store import Policies, read_policies
from watchgate.service.policy.watch import watch
from watchgate.service.process_table import Proc, ancestors
from watchgate.service.recorder import Recorder
from watchgate.service.runners.background import ObserverQueue
from watchgate.service.runners.desk import Desk, Runner
from watchgate.service.runners.extension import Surroundings
from watchgate.service.runners.extensions import Extensions
from watchgate.service.runners.pool import ChildPool
from watchgate.service.runtime_dir import RuntimeDir
from watchgate.service.sinks.all import Sinks
from watchgate.service.verbs.table import Verbs

DRAIN_S = 1.0
JOURNAL_LOOK_S = 0.25
SINKS_LOOK_S = 5.0


class Stage(msgspec.Struct, frozen=True, kw_only=True):
    """What surrounds a core: ids, the home folder, its own files, and who a peer works for.

    What runs below the process `own_pid` may not allow. `proc` is where the system tells of the
    agents that run; None: nobody looks.
    """

    ids: Callable[[], str]
    home: str
    protected: tuple[str, ...]
    agent_of: Callable[[int], Proc | None]
    own_pid: int = 0
    proc: Path | None = None


def real_stage(paths: Paths) -> Stage:
    """Random ids, this user's home, and the kernel's word on processes."""
    own = [paths.runtime_dir, paths.state_dir, paths.config.parent, paths.data_dir]
    own += [path.resolve() for path in own]
    return Stage(
        ids=lambda: request_id(secrets.token_bytes(16)),
        home=str(Path.home()),
        protected=tuple(dict.fromkeys(str(path) for path in own)),
        agent_of=lambda pid: agent_of(ancestors(pid)),
        own_pid=os.getpid(),
        proc=PROC,
    )


class Host:
    """One core in this process. `run` returns when it was stopped; every open gate is answered."""

    def __init__(
        self,
        paths: Paths,
        config: Config,
        clock: Clock,
        stage: Stage | None = None,
        *,
        prints: bool = False,
        adopts: bool = False,
        handlers: Sequence[tuple[Handler, Runner]] = (),
    ) -> None:
        """`prints` says that standard output is free for a sink; `handlers` are the host's own.

        `adopts` says that whatever hooks leave behind stays below this process.
        """
        self._stage = stage or real_stage(paths)
        self._prints = prints
        self._adopts = adopts
        self._handlers = tuple(handlers)
        self.core = request_id(secrets.token_bytes(16))[:8]
        self._paths = paths
        self._config = config
        self._clock = clock
        self._stopped = anyio.Event()
        self._stopped_by = "signal"
        self._woken = anyio.Event()
        self._printed = anyio.Event()
        self._unread: list[str] = []

    async def run(self, *, task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Serve until stopped; `task_status` is told when both sockets accept."""
        with ExitStack() as closing:
            pool = ChildPool()
            closing.callback(pool.close)
            known = adapters(self._paths, self._config)
            equipment = equip(
                self._config,
                self._paths,
                os.environ,
                pool,
                prints=self._prints,
                own=self._handlers,
            )
            directory = closing.enter_context(RuntimeDir(self._paths))
            journal = Journal.open(self._paths.journal)
            closing.callback(journal.close)
            desk = Desk(equipment.runners, self._observers(), self._clock)
            policies = read_policies(self._paths)
            hub = self._hub(journal, desk, equipment.handlers, known, policies)
            sinks = Sinks(equipment.sinks)
            hub.recorder.watchers.add(sinks)
            extensions = Extensions(Surroundings(clock=self._clock, said=hub.extension_said))
            closing.callback(hub.catch_up)  # however the core ends
            ingest = await SocketListener.from_socket(directory.bind(self._paths.ingest_socket))
            control = await SocketListener.from_socket(directory.bind(self._paths.control_socket))
            store = GrantStore(self._paths.grants, hub.engine.grants.kept)
            verbs = Verbs(
                hub,
                self._clock,
                core=self.core,
                journal=self._paths.journal,
                off=self._paths.off,
                stop=self.stop,
                store=store,
                policies=policies,
            )
            async with ingest, control, anyio.create_task_group() as tasks:
                extensions.start(equipment.extensions, tasks)
                desk.runners.update(extensions.runners())
                await tasks.start(desk.serve, hub.heard)
                tasks.start_soon(self._run_sinks, sinks)
                await tasks.start(remember_usage, hub.recorder, self._paths.journal, self._clock)
                started = CoreData(what="core started", profile=self._config.profile)
                hub.recorder.about_core("policy.started", started)
                await tasks.start(keep, hub, store, self._clock.now())
                for warning in warnings(self._config, known):
                    hub.recorder.notice("config", warning)
                fault = journal.fault or (self._unread and f"unreadable: {self._unread[0]}")
                if fault:
                    found = CoreData(what="the journal is not what was written", detail=fault)
                    hub.recorder.about_core("policy.fault", found)
                tasks.start_soon(serve, ingest, Ingest(hub).handle, hub.cannot_accept)
                tasks.start_soon(serve, control, Control(verbs).handle, hub.cannot_accept)
                tasks.start_soon(self._watch_journal, hub, journal)
                tasks.start_soon(self._watch_sinks, hub, sinks)
                tasks.start_soon(watch, hub, policies)
                self._look_on(tasks, hub, known)
                task_status.started()
                await self._stopped.wait()
                await self._end(hub, store)
                self.printed()
                sinks.close()
                async with anyio.create_task_group() as leaving:
                    leaving.start_soon(extensions.stop)
                    leaving.start_soon(sinks.drained)
                self._tell_of_sinks(hub, sinks, every=True)
                tasks.cancel_scope.cancel()

    def _look_on(self, tasks: TaskGroup, hub: Hub, known: Mapping[str, Adapter]) -> None:
        """Start whatever only looks: at deadlines, at what requests would touch, at what runs."""
        tasks.start_soon(self._deadlines, hub)
        facts = FactsWatch(hub, self._clock, home=self._stage.home)
        hub.recorder.watchers.add(facts)
        tasks.start_soon(facts.run)
        if self._stage.proc is not None:
            home = Path(self._stage.home)
            rounds = Rounds(hub, self._clock, known, os.environ, home=home, proc=self._stage.proc)
            tasks.start_soon(rounds.run)

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

    def _observers(self) -> ObserverQueue:
        return ObserverQueue(preset_of(self._config.dispatch.preset))

    def _hub(
        self,
        journal: Journal,
        desk: Desk,
        handlers: tuple[Handler, ...],
        known: Mapping[str, Adapter],
        policies: Policies,
    ) -> Hub:
        stage = self._stage
        gate = PolicyGate(
            self._config.profile,
            policies,
            home=stage.home,
            own=stage.protected,
            links=LinkFinder(stage.home),
            auto_allow=self._config.policy.auto_allow,
            timer=time.perf_counter,
        )
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
            engine=Engine(self._config, gate, stage.ids, handlers, traits=traits_in(known)),
            recorder=Recorder(chain, journal, state, self._clock),
            clock=self._clock,
            adapters=known,
            loop=Loop(
                later=lambda call: loop.call_later(MOMENT_S, call),
                soon=loop.call_soon_threadsafe,
                wake=self._wake,
            ),
            agent_of=stage.agent_of,
            desk=desk,
            askers=Askers(core_pid=stage.own_pid, starter=self._starter()),
        )

    def _starter(self) -> Proc | None:
        """This process, where its configuration makes it start what may get away from it."""
        starts = self._config.handler or self._config.extension
        if not (self._stage.own_pid and starts) or self._adopts:
            return None
        return next(iter(ancestors(self._stage.own_pid)), None)

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

    def printed(self) -> None:
        """Standard output is free now: whoever `prints` has said first what had to be first."""
        self._printed.set()

    async def _run_sinks(self, sinks: Sinks) -> None:
        if self._prints:
            await self._printed.wait()
        await sinks.run()

    async def _watch_sinks(self, hub: Hub, sinks: Sinks) -> None:
        while True:
            await anyio.sleep(SINKS_LOOK_S)
            self._tell_of_sinks(hub, sinks)

    def _tell_of_sinks(self, hub: Hub, sinks: Sinks, *, every: bool = False) -> None:
        for report in sinks.reports(every=every):
            hub.recorder.notice("sink", report)

    async def _end(self, hub: Hub, store: GrantStore) -> None:
        hub.catch_up()
        now = self._clock.now()
        hub.recorder.about_core(
            "policy.stopped", CoreData(what="core stopped", name=self._stopped_by)
        )
        hub.execute(hub.engine.close_all("denied-core-stopped", "the core was stopped", now))
        with anyio.move_on_after(DRAIN_S):
            while hub.unanswered:  # noqa: ASYNC110 - for a second at most, at the very end
                await anyio.sleep(0.01)
        await write(store)
