"""One run of a core: builds its parts, serves both sockets, and ends closed."""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketListener, TaskGroup, TaskStatus

from watchgate.agents.agent_facts import traits_in
from watchgate.agents.base import Adapter
from watchgate.agents.registry import agent_titles
from watchgate.core.base.clock import Clock
from watchgate.core.base.ids import request_id
from watchgate.core.chain.chain_walk import RetentionLimits
from watchgate.core.chain.hash_chain import Chain
from watchgate.core.config.config import Config
from watchgate.core.dispatch.handlers import Handler
from watchgate.core.dispatch.presets import preset_of
from watchgate.core.gate.engine import Engine
from watchgate.core.gate.operator_decisions import Refused
from watchgate.core.gate.policy_gate import PolicyGate
from watchgate.core.model.actor import Actor
from watchgate.core.model.large_inputs import Holders
from watchgate.core.model.records import CoreData
from watchgate.core.secrets.redact import journal_json
from watchgate.core.state.state import State
from watchgate.link.paths import Paths
from watchgate.service.admission.socket_shares import accept_connections
from watchgate.service.control.control_socket import Control
from watchgate.service.control.reload import HookListener, Reload, Reread
from watchgate.service.control.verb_table import Verbs, VerbStores
from watchgate.service.host.core_identity import CoreIdentity, OwnProcesses
from watchgate.service.host.restore_state import off_at_start, remember_usage, restored_state
from watchgate.service.hub.components import build_components, config_warnings
from watchgate.service.hub.core_environment import AnchorLines, Environment
from watchgate.service.hub.grant_sync import GrantStore, sync_grants, write
from watchgate.service.hub.hub import Hub
from watchgate.service.hub.interfaces import Loop
from watchgate.service.hub.loop_budget import MOMENT_S
from watchgate.service.identity.agent_processes import AgentProcesses
from watchgate.service.identity.presence import CoreProcesses
from watchgate.service.journal.journal_retention import Retention
from watchgate.service.journal.recorder import Recorder
from watchgate.service.journal.unusable import (
    UnusableJournal,
    missed,
    open_journal,
    usable_again,
)
from watchgate.service.journal.writer import Journal
from watchgate.service.policies.link_finder import LinkFinder
from watchgate.service.policies.policy_store import Policies, read_policies
from watchgate.service.runners.child_pool import ChildPool
from watchgate.service.runners.extension import ExtensionDeps, Extensions
from watchgate.service.runners.handler_runner import HandlerRunner, ObserverQueue, Runner
from watchgate.service.search.indexer import Indexer
from watchgate.service.setup.agent_states import states_reader
from watchgate.service.sinks.sink import Sinks
from watchgate.service.system.local_days import utc_offset_s
from watchgate.service.system.process_table import Proc, ancestors
from watchgate.service.system.runtime_dir import RuntimeDir
from watchgate.service.usage.budget_watch import BudgetWatch
from watchgate.service.usage.usage_follow import usage_following
from watchgate.service.watch.coverage.coverage_watch import CoverageWatch
from watchgate.service.watch.escalation.escalation_watch import (
    EscalationWatch,
    configured_escalation,
)
from watchgate.service.watch.facts.facts_watch import FactsWatch
from watchgate.service.watch.integrity.integrity_watch import IntegrityWatch, watch_policy
from watchgate.service.wire.agent_adapters import adapters

DRAIN_S = 1.0
JOURNAL_LOOK_S = 0.25
SINKS_LOOK_S = 5.0
RENEWED = "the journal, which can be used again"


class CoreOptions(msgspec.Struct, frozen=True, kw_only=True):
    """The options that every run of a core is given.

    `prints`: standard output is free for a sink; `adopts`: what hooks leave behind stays below us.
    """

    paths: Paths
    config: Config
    clock: Clock
    environment: Environment
    prints: bool = False
    adopts: bool = False
    handlers: tuple[tuple[Handler, Runner], ...] = ()
    reread: Reread | None = None


class CoreRun:
    """A run of a core; `unrecorded` counts the records that the run before could not write.

    After `run` it is `renewed` where it ended because a journal that it lacked can be used again.
    """

    def __init__(self, options: CoreOptions, printed: anyio.Event, unrecorded: int = 0) -> None:
        self.core = request_id(secrets.token_bytes(16))[:8]
        self.renewed = False
        self.unrecorded = 0
        self._options = options
        self._paths, self._config = options.paths, options.config
        self._clock, self._environment = options.clock, options.environment
        self._missed = unrecorded
        self._printed = printed
        self._next = options.config
        self._stopped = anyio.Event()
        self._stopped_by = "signal"
        self._stopped_from: Actor | None = None
        self._woken = anyio.Event()
        self._unread: list[str] = []
        self._escalation: EscalationWatch | None = None
        self._own_processes = OwnProcesses(options.environment.own_pid)
        self._identity: CoreIdentity | None = None

    @property
    def config(self) -> Config:
        """The configuration of the next run."""
        return self._next

    def stop(self, by: str, actor: Actor | None = None) -> None:
        """Ends the core, for good; `by` is recorded, and the process that asked for it."""
        self.renewed = False
        self._stopped_from = actor
        self._stopped_by = by
        self._stopped.set()

    def _start_over(self, config: Config, by: str, actor: Actor | None = None) -> None:
        """Ends this run for one with this configuration; raises `Refused` if it ends already."""
        if self._stopped.is_set():
            why = "this core ends already and took nothing in: look at `watchgate status`"
            raise Refused("not_offered", why)
        self.stop(by, actor)
        self.renewed, self._next = True, config

    async def run(
        self,
        directory: RuntimeDir,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Serves until stopped; reports to `task_status` when both sockets accept."""
        with ExitStack() as closing:
            pool = ChildPool()
            closing.callback(pool.close)
            known = adapters(self._paths, self._config)
            components = build_components(
                self._config,
                self._paths,
                os.environ,
                pool,
                prints=self._options.prints,
                own=self._options.handlers,
            )
            journal, state = open_journal(self._paths.journal, self._remembered)
            closing.callback(self._close, journal)
            indexer = Indexer(self._paths.journal)
            closing.callback(indexer.close)
            handler_runner = HandlerRunner(
                components.runners,
                ObserverQueue(preset_of(self._config.dispatch.preset)),
                self._clock,
            )
            policies = read_policies(self._paths)
            hub = self._hub(journal, state, handler_runner, components.handlers, known, policies)
            sinks = Sinks(components.sinks)
            hub.recorder.watchers |= {sinks, indexer}
            extensions = Extensions(
                ExtensionDeps(clock=self._clock, on_line=hub.record_extension_line)
            )
            closing.callback(hub.catch_up)  # however the core ends
            control = await SocketListener.from_socket(directory.bind(self._paths.control_socket))
            store = GrantStore(self._paths.grants, hub.engine.grants.permanent)
            bind = partial(directory.bind, self._paths.ingest_socket)
            async with (
                control,
                anyio.create_task_group() as tasks,
                aclosing(HookListener(hub, tasks, bind, self._stopped)) as hooks,
            ):
                verbs = Verbs(
                    hub,
                    self._clock,
                    core=self.core,
                    paths=self._paths,
                    stop=self.stop,
                    reload=Reload(
                        hub, hooks.close_idle, self._paths, self._options.reread, self._start_over
                    ),
                    stores=self._verb_stores(hub, store, policies, known.values()),
                    forget=indexer.forget,
                )
                extensions.start(components.extensions, tasks)
                handler_runner.runners.update(extensions.runners())
                await tasks.start(handler_runner.serve, hub.on_report)
                tasks.start_soon(self._run_sinks, sinks)
                if isinstance(journal, Journal):
                    await tasks.start(
                        remember_usage, hub.recorder, self._paths.journal, self._clock
                    )
                self._record_start(hub, journal)
                await tasks.start(sync_grants, hub, store, self._clock.now())
                for warning in config_warnings(self._config, known):
                    hub.recorder.notice("config", warning)
                await self._listen(tasks, hub, verbs, hooks, control)
                tasks.start_soon(self._watch_journal, hub, journal)
                tasks.start_soon(self._watch_sinks, hub, sinks)
                tasks.start_soon(watch_policy, hub, policies)
                self._start_journal_watch(tasks, hub, journal)
                self._start_watchers(tasks, hub, known, policies)
                task_status.started()
                await self._stopped.wait()
                if not self.renewed:
                    directory.refuse()
                await self._end(hub, store)
                self._printed.set()
                sinks.close()
                async with anyio.create_task_group() as leaving:
                    leaving.start_soon(extensions.stop)
                    leaving.start_soon(sinks.drained)
                self._record_sinks(hub, sinks, every=True)
                self.unrecorded += hub.recorder.take_unrecorded()
                tasks.cancel_scope.cancel()

    def _remembered(self) -> State:
        return restored_state(self._paths.journal, self._clock.now().wall_us, self._unread.append)

    def _close(self, journal: Journal | UnusableJournal) -> None:
        self.unrecorded += journal.close()
        if isinstance(journal, UnusableJournal):
            self.unrecorded += self._missed

    def _record_start(self, hub: Hub, journal: Journal | UnusableJournal) -> None:
        """Records that a core started, and the faults at its start; no gate is asked before."""
        earlier = hub.recorder.state.gate  # a start resets it
        offset_s = utc_offset_s(self._clock.now().wall_us)
        started = CoreData(what="core started", profile=self._config.profile, utc_offset_s=offset_s)
        hub.recorder.about_core("policy.started", started)
        if self._missed:
            hub.recorder.about_core("policy.journal", missed(self._missed))
        hub.journal_state(journal.lost)
        if off := off_at_start(self._paths.off, earlier, self._clock.now()):
            hub.recorder.about_core("policy.off", off)
        if fault := journal.fault or (self._unread and f"unreadable: {self._unread[0]}"):
            difference = CoreData(what="the journal is not what was written", detail=fault)
            hub.recorder.about_core("policy.fault", difference)

    async def _listen(
        self, tasks: TaskGroup, hub: Hub, verbs: Verbs, hooks: HookListener, control: SocketListener
    ) -> None:
        """Accepts hooks and control clients, each asking process within its share.

        Args:
            tasks: The run's task group.
            hub: The hub.
            verbs: The verbs of the control socket.
            hooks: The listener for hooks.
            control: The control socket.
        """
        clients = Control(verbs, hub.askers.asking_agent)
        self._own_processes.clients += hooks.ingest.clients, clients.clients
        await hooks.open()
        tasks.start_soon(accept_connections, control, clients.handle, hub.cannot_accept)

    def _start_journal_watch(
        self, tasks: TaskGroup, hub: Hub, journal: Journal | UnusableJournal
    ) -> None:
        """Starts the watch over the journal's limits, or over one that cannot be used."""
        if self._identity is not None:
            self._identity.tell_of_start()
            tasks.start_soon(self._identity.run)
        if isinstance(journal, UnusableJournal):
            tasks.start_soon(usable_again, journal, self._remembered)
            return
        if self._environment.system_log is not None:
            hub.recorder.watchers.add(AnchorLines(journal, self._environment.system_log))
        given = self._config.journal
        limits = RetentionLimits(given.max_age_days, given.max_size_mb)
        tasks.start_soon(Retention(journal, hub.recorder, limits, self._clock).run)

    def _start_watchers(
        self, tasks: TaskGroup, hub: Hub, known: Mapping[str, Adapter], policies: Policies
    ) -> None:
        """Starts the watchers: of deadlines, of targets of requests, of running agents."""
        tasks.start_soon(self._deadlines, hub)
        facts = FactsWatch(hub, self._clock, home=self._environment.home)
        hub.recorder.watchers.add(facts)
        tasks.start_soon(facts.run)
        if entries := self._config.escalation:
            alerts = configured_escalation(
                hub, self._clock, entries, os.environ, home=self._environment.home
            )
            self._escalation = alerts
            hub.recorder.watchers.add(alerts)
            tasks.start_soon(alerts.run)
        if self._environment.proc is not None:
            home = Path(self._environment.home)
            integrity = IntegrityWatch(hub, self._clock, self._paths, known, policies, os.environ)
            rounds = CoverageWatch(
                hub,
                self._clock,
                known,
                os.environ,
                home=home,
                proc=self._environment.proc,
                places=self._environment.places,
                entered=integrity.entered,
            )
            tasks.start_soon(rounds.run)
            tasks.start_soon(integrity.run)
        budgets = BudgetWatch.of(hub, self._clock, self._config.costs)
        if budgets is not None:
            hub.recorder.watchers.add(budgets)
            tasks.start_soon(budgets.run)
        counts = usage_following(hub, self._clock, self._environment, self._config, self._paths)
        if counts is not None:
            tasks.start_soon(counts)

    def _hub(
        self,
        journal: Journal | UnusableJournal,
        state: State,
        handler_runner: HandlerRunner,
        handlers: tuple[Handler, ...],
        known: Mapping[str, Adapter],
        policies: Policies,
    ) -> Hub:
        """Builds the hub, with its gate, engine, chain and recorder.

        Args:
            journal: The journal, or its stand-in.
            state: The state by today's records.
            handler_runner: Runs handlers.
            handlers: The configured handlers.
            known: The adapters by name.
            policies: The policies in force.
        """
        stage = self._environment
        gate = PolicyGate(
            self._config.profile,
            policies,
            home=stage.home,
            own=stage.protected,
            links=LinkFinder(stage.home),
            auto_allow=self._config.policy.auto_allow,
            timer=time.perf_counter,
            budgets=state.budgets,
        )
        gate.own_pids = self._own_processes
        content = self._config.journal.content
        # The journal's thread must never wait for the loop: the loop waits for it when it closes.
        loop = asyncio.get_running_loop()
        # Where no input is kept there is none to refer to.
        holders = None if content == "none" else Holders()
        chain = Chain(self.core, journal.head, lambda data: journal_json(data, content), holders)
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
            handler_runner=handler_runner,
            askers=AgentProcesses(),
        )

    def _verb_stores(
        self, hub: Hub, store: GrantStore, policies: Policies, known: Iterable[Adapter]
    ) -> VerbStores:
        own = CoreProcesses(
            core_pid=self._environment.own_pid,
            starter=self._starter(),
            scripted=self._environment.scripted,
        )
        self._identity = CoreIdentity(self._paths, self._clock, hub, own)
        agents = states_reader(
            self._paths, self._config, os.environ, known, lambda: hub.engine.profile
        )
        return VerbStores(store, policies, self._identity.presences, agents, agent_titles(known))

    def _starter(self) -> Proc | None:
        starts = self._config.handler or self._config.extension
        if not (self._environment.own_pid and starts) or self._options.adopts:
            return None
        return next(iter(ancestors(self._environment.own_pid)), None)

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

    async def _watch_journal(self, hub: Hub, journal: Journal | UnusableJournal) -> None:
        while not journal.spent:
            hub.journal_state(journal.lost)
            await anyio.sleep(JOURNAL_LOOK_S)
        if not self._stopped.is_set():
            profile = hub.engine.profile
            self._start_over(msgspec.structs.replace(self._config, profile=profile), RENEWED)

    async def _run_sinks(self, sinks: Sinks) -> None:
        if self._options.prints:
            await self._printed.wait()
        await sinks.run()

    async def _watch_sinks(self, hub: Hub, sinks: Sinks) -> None:
        while True:
            await anyio.sleep(SINKS_LOOK_S)
            self._record_sinks(hub, sinks)

    def _record_sinks(self, hub: Hub, sinks: Sinks, *, every: bool = False) -> None:
        for report in sinks.reports(every=every):
            hub.recorder.notice("sink", report)

    async def _end(self, hub: Hub, store: GrantStore) -> None:
        hub.catch_up()
        now = self._clock.now()
        stopped = CoreData(what="core stopped", name=self._stopped_by, actor=self._stopped_from)
        hub.recorder.about_core("policy.stopped", stopped)
        hub.execute(hub.engine.close_all("denied-core-stopped", "the core was stopped", now))
        alerts = self._escalation
        with anyio.move_on_after(DRAIN_S):
            while hub.unanswered or (alerts is not None and alerts.busy):  # noqa: ASYNC110 - for a second
                await anyio.sleep(0.01)
        await write(store)
