"""Runs the doctor's checks: this machine first, then each agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from watchgate.agents.base import Adapter
from watchgate.core.config.config import Config
from watchgate.core.model.agent_state import AgentState
from watchgate.core.model.events import Lane
from watchgate.link.paths import Paths
from watchgate.service.doctor import agent_checks, probe_call
from watchgate.service.doctor.machine_checks import (
    CORE,
    check_parser,
    check_places,
    check_presence,
    check_tmux,
)
from watchgate.service.setup import hook_checks, hook_client
from watchgate.service.setup.agent_files import InstallRefusal, Scope, setup_of
from watchgate.service.setup.agent_states import AgentStates
from watchgate.service.setup.forms.form_editor import Table
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.hook_client import NoInterpreterError, base_interpreter
from watchgate.service.setup.hook_files import HookFile
from watchgate.service.system import off_switch
from watchgate.service.system.system_clock import SystemClock

_TRUST = {"codex": agent_checks.check_trust}
"""The check that asks an agent whether it trusts our hooks, where it can be asked."""


class Doctor:
    """Checks everything on the way from an agent to the core."""

    def __init__(
        self, places: Paths, config: Config, env: Mapping[str, str], cwd: Path, *, fix: bool
    ) -> None:
        """Checks nothing yet.

        Args:
            places: Watchgate's own paths.
            config: The configuration in force.
            env: The environment in which agents' settings are looked up.
            cwd: The folder whose project is looked at.
            fix: Whether to mend what can be mended.
        """
        self._places = places
        self._config = config
        self._env = env
        self._cwd = cwd
        self._fix = fix
        self._core_runs = False

    def checks(self, agents: Sequence[Adapter], *, named: bool) -> Iterator[Check]:
        """Yields every finding as it is made; of agents that nobody `named`, only those present."""
        python, without = _interpreter()
        native = python is not None and hook_client.native_works(self._places, python)
        places, config = self._places, self._config
        self._states = AgentStates(
            places, config, self._env, self._cwd, python=python, native=native
        )
        standing = self._states.of(agents)
        off = off_switch.read_switch(places.off, SystemClock().now()) is not None
        hook_sockets = self._sockets(agents)
        if not hook_sockets and any(
            each.installed and each.holds is not False for each in standing
        ):
            hook_sockets = frozenset({places.ingest_socket})
        hook_sockets = frozenset() if off else hook_sockets
        for check in check_places(places, fix=self._fix, hook_sockets=hook_sockets):
            self._core_runs |= check.check == CORE and check.status == "ok"
            yield check
        yield from check_presence(places)
        yield check_parser()
        yield from check_tmux(self._env)
        if python is None:
            yield Check("interpreter", "fail", without, "install python3 of your system")
            return
        yield Check("interpreter", "ok", f"hooks run {python}")
        yield from _native(works=native)
        for agent, state in zip(agents, standing, strict=True):
            if agent.setup is not None:
                yield from self._agent(agent, state, named=named)
            elif named:
                yield Check(f"{agent.name}: hooks", "ok", f"{agent.title} needs no installation")

    def _sockets(self, agents: Sequence[Adapter]) -> frozenset[Path]:
        """Returns the sockets of the hooks that deny where no core answers there."""
        tables = [
            (part, table)
            for agent in agents
            if agent.setup is not None
            for _, part in self._states.parts(agent)
            if not isinstance(table := hook_checks.read_entries(agent, part), Check)
        ]
        return frozenset(
            installed.ingest_socket
            for part, table in tables
            for _, installed in hook_checks.hook_commands(part, table)
            if installed.lane == Lane.GATE
        )

    def _agent(self, agent: Adapter, state: AgentState, *, named: bool) -> Iterator[Check]:
        installed: list[tuple[Scope, HookFile, Table]] = []
        broken = False
        for scope, part in self._states.parts(agent):
            table = hook_checks.read_entries(agent, part)
            if isinstance(table, Check):
                broken = True
                yield table
            elif table:
                installed.append((scope, part, table))
        if not installed:
            if not broken:
                yield from _without_hooks(agent, named=named, is_present=state.is_present)
            return
        for scope in dict.fromkeys(scope for scope, _, _ in installed):
            yield from self._files(agent, state, scope)
        if (gated := hook_checks.check_gated(agent, state)) is not None:
            yield gated
        programs: set[Path | None] = set()
        for _, part, table in installed:
            yield from hook_checks.check_order(agent, part)
            own = list(
                hook_checks.hook_commands(part, hook_checks.written_as_ours(table, part.table))
            )
            programs |= {each.python for _, each in own}
        yield from agent_checks.check_client(agent, programs, self._places)
        for _, part, table in installed:
            yield from self._tried(agent, part, table)
        yield from self._particular(agent, [(scope, part) for scope, part, _ in installed])

    def _files(self, agent: Adapter, state: AgentState, scope: Scope) -> Iterator[Check]:
        # Where hooks are of another kind than the profile, that is told by itself.
        kind = ("guard" if state.holds else "watch") if state.at_odds else ""
        try:
            changes = self._states.plan(agent, scope, profile=kind)
        except InstallRefusal as refusal:
            yield Check(f"{agent.name}: hooks", "fail", str(refusal), "mend the file by hand")
            return
        approval = self._config.approval
        yield from hook_checks.check_all_entries(agent, changes)
        for change in changes:
            table = change.part.editor.ours(change.file.text)
            deadlines = approval.margin_s, approval.client_deadline_s
            yield from hook_checks.check_deadlines(agent, change.part, table, *deadlines)
            yield from hook_checks.check_switches(agent, setup_of(agent), change)

    def _tried(self, agent: Adapter, part: HookFile, table: Table) -> Iterator[Check]:
        own = hook_checks.written_as_ours(table, part.table)
        for written, installed in hook_checks.hook_commands(part, own):
            check = probe_call.play_probe(
                agent, written.command, installed, self._env, core_runs=self._core_runs
            )
            if check is not None:
                yield check

    def _particular(
        self, agent: Adapter, parts: Sequence[tuple[Scope, HookFile]]
    ) -> Iterator[Check]:
        setup = setup_of(agent)
        yield from hook_checks.check_silencers(agent, setup, self._env, self._cwd)
        yield from agent_checks.check_variables(agent, setup, self._env, self._cwd)
        check_trust = _TRUST.get(agent.name)
        program = self._states.program(agent)
        if check_trust is not None and program is not None:
            own = frozenset(
                written.command for _, part in parts for written in part.editor.written(part.table)
            )
            yield check_trust(program, own, self._cwd, self._env, fix=self._fix)
        elif check_trust is not None and any(scope == "user" for scope, _ in parts):
            yield agent_checks.judge_files(trusts=self._states.trusts(agent) is True)
        elif setup.after:
            yield Check(f"{agent.name}: note", "ok", setup.after)


def _interpreter() -> tuple[Path | None, str]:
    """Returns the interpreter of the hooks; without one, why."""
    try:
        return base_interpreter(), ""
    except NoInterpreterError as error:
        return None, str(error)


def _native(*, works: bool) -> Iterator[Check]:
    """Reports whether hooks run the native client, in a package that carries one."""
    if works:
        text = "it answers here: `watchgate install` has hooks run it, not the interpreter"
        yield Check("native client", "ok", text)
    elif hook_client.packaged_native() is not None:
        text = "the one in this package does not run here: hooks run the one in Python"
        yield Check("native client", "warn", text, "install a wheel built on this machine")


def _without_hooks(agent: Adapter, *, named: bool, is_present: bool) -> Iterator[Check]:
    name = f"{agent.name}: hooks"
    if is_present:
        text = "none of watchgate are installed: nothing of this agent is seen or gated"
        yield Check(name, "fail" if named else "warn", text, f"watchgate install {agent.name}")
    elif named:
        yield Check(name, "warn", "not found on this machine")
