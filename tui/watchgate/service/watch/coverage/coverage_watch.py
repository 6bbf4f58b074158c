"""Scans the running agents every ten seconds, and follows their transcripts all the time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import anyio
import anyio.to_thread

from watchgate.agents.agent_facts import traits_in
from watchgate.agents.base import Adapter
from watchgate.agents.usage import UsagePlace
from watchgate.core.base.clock import Clock
from watchgate.core.gate.gate_coverage import TRANSCRIPT
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.core.model.events import Event, Lane, Text
from watchgate.core.model.sessions import SessionState
from watchgate.service.hub.hub import Hub
from watchgate.service.setup.codex_trust import READS
from watchgate.service.system.process_table import Proc
from watchgate.service.watch.coverage.coverage_comparison import (
    CoverageComparison,
    MachineClocks,
    hook_state,
)
from watchgate.service.watch.coverage.processes import (
    InstalledHooks,
    ProcessLimits,
    ProcessScan,
    read_installed_hooks,
)
from watchgate.service.watch.coverage.ran_calls import TranscriptFollower

LOOK_S = 10.0
NEWCOMERS_S = 0.5


class CoverageWatch:
    """Runs one core's comparison of the running agents with what passed its gate."""

    def __init__(
        self,
        hub: Hub,
        clock: Clock,
        adapters: Mapping[str, Adapter],
        env: Mapping[str, str],
        *,
        home: Path,
        proc: Path,
        places: Sequence[UsagePlace] = (),
        entered: Callable[[str, str], None] = lambda _agent, _folder: None,
    ) -> None:
        """Subscribes to the hub's observed events and to its hook calls.

        Args:
            hub: The core's hub, whose coverage state is kept up to date.
            clock: Source of UTC time.
            adapters: The agents by name.
            env: The environment in which agents' settings are looked up.
            home: The user's home directory.
            proc: The process table, usually `/proc`.
            places: Directories in which agents keep their transcripts.
            entered: Called with each agent and its working folder, before its first call.
        """
        self._entered = entered
        self._hub = hub
        self._clock = clock
        self._adapters = adapters
        self._env = env
        self._home = home
        self._processes = ProcessScan(adapters, proc)
        self._limits = ProcessLimits(proc)
        self._hooks: dict[str, InstalledHooks] = {}
        coverage = hub.engine.coverage
        self._watch = CoverageComparison(
            coverage.set_process, self._hooks.__getitem__, hub.askers.is_driven, traits_in(adapters)
        )
        self._transcripts = TranscriptFollower(
            places, clock, self._knows, self._ran, self._interrupted
        )
        hub.observed.on_session_event = self._on_observed
        hub.on_asked = self._on_hook_call

    async def run(self) -> None:
        """Scans until cancelled."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._transcripts.run)
            tasks.start_soon(self._newcomers)
            while True:
                await anyio.sleep(LOOK_S)
                await self.look()

    async def _newcomers(self) -> None:
        """Reports agents soon after their start: their first call comes a moment later."""
        while True:
            for process in await anyio.to_thread.run_sync(self._processes.newcomers):
                self._entered(process.agent, process.cwd)
            await anyio.sleep(NEWCOMERS_S)

    async def look(self) -> None:
        """Scans the running agents once, and records what follows."""
        processes = await anyio.to_thread.run_sync(self._processes.look)
        for agent in {each.agent for each in processes}:
            setup = self._adapters[agent].setup
            self._hooks[agent] = read_installed_hooks(
                setup, self._home, self._env, READS.get(agent)
            )
        at = MachineClocks(self._clock.now().wall_us, _up_s())
        self._hub.catch_up()
        sessions = self._hub.recorder.state.sessions
        narrow = await anyio.to_thread.run_sync(self._limits.narrow, processes)
        for draft in (
            *self._watch.compare(processes, sessions, at),
            *self._watch.narrow(narrow, at),
        ):
            self._hub.recorder.record(draft)

    def _knows(self, asked: TranscriptCall) -> bool:
        """Returns whether its session reported this call, or the proxy that drives its agent."""
        self._hub.catch_up()
        coverage, tool = self._hub.engine.coverage, asked.tool
        if coverage.knows_call(asked.agent, asked.session, tool):
            return True
        sessions = self._hub.recorder.state.sessions.items()
        return any(
            view.cwd == asked.cwd and coverage.knows_call(*key, tool)
            for key, view in sessions
            if self._hub.askers.is_driven(key)
        )

    def _ran(self, event: Event) -> None:
        self._learn(event)
        self._hub.catch_up()
        self._hub.execute(self._hub.engine.receive(event, 0, event.at))

    def _interrupted(self, agent: str, session: str, at_us: int) -> None:
        """Ends the turn that a person broke off, unless another one began since."""
        self._hub.catch_up()
        view = self._hub.recorder.state.session(agent, session)
        if view is None or view.since > at_us or view.state is not SessionState.WORKING:
            return
        now = self._clock.now()
        event = Event(
            kind="turn.interrupt",
            native=TRANSCRIPT,
            agent=agent,
            session=session,
            lane=Lane.OBSERVE,
            at=now,
            body=Text("the agent's transcript says that a person interrupted it"),
            cwd=view.cwd,
        )
        self._hub.execute(self._hub.engine.receive(event, 0, now))

    def _learn(self, event: Event) -> None:
        """Learns the state of an agent's hooks when the first event of a session comes."""
        coverage, adapter = self._hub.engine.coverage, self._adapters.get(event.agent)
        if adapter is None or coverage.knows_session(event.agent, event.session):
            return
        trusts = READS.get(event.agent)
        hooks = read_installed_hooks(adapter.setup, self._home, self._env, trusts)
        coverage.set_process(event.agent, event.session, hook_state(hooks))

    def _on_observed(self, event: Event) -> None:
        self._enter(event)
        self._transcripts.on_event(event)

    def _enter(self, event: Event) -> None:
        """Notes an event's folder as one in which a session of its agent works."""
        self._entered(event.agent, event.cwd)
        for draft in self._watch.on_event(event.agent, event.cwd, event.at.wall_us):
            self._hub.recorder.record(draft)

    def _on_hook_call(self, event: Event, process: Proc) -> None:
        self._enter(event)
        if process.start.isdecimal():
            self._watch.note_process(event.agent, event.session, (process.pid, int(process.start)))


def _up_s() -> float:
    """Returns the seconds since boot, sleep included: process starts are counted from there."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)
