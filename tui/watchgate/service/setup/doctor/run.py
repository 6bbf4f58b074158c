"""The doctor's round: this machine first, then each agent."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from watchgate.agents.registry import HOOKS_FILE
from watchgate.core.config import Config
from watchgate.link.paths import Paths
from watchgate.service.setup.doctor import claude, codex, hooks, play, synaps
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.doctor.places import CORE, check_places
from watchgate.service.setup.doctor.terminal import check_tmux
from watchgate.service.setup.installer import Installer, Setting
from watchgate.service.setup.interpreter import NoInterpreterError, base_interpreter
from watchgate.service.setup.targets import Refusal, home, hooks_path


class Doctor:
    """Looks at everything on the way from an agent to the core."""

    def __init__(
        self, places: Paths, config: Config, env: Mapping[str, str], cwd: Path, *, fix: bool
    ) -> None:
        self._places = places
        self._config = config
        self._env = env
        self._cwd = cwd
        self._fix = fix
        self._core_runs = False
        self._installer = Installer(places, env, cwd)

    def checks(self, agents: Sequence[str]) -> Iterator[Check]:
        """Every finding, as it is made; no agents named means all that there are."""
        for check in check_places(self._places, fix=self._fix):
            self._core_runs |= check.check == CORE and check.status == "ok"
            yield check
        yield from check_tmux(self._env)
        try:
            python = base_interpreter()
        except NoInterpreterError as error:
            yield Check("interpreter", "fail", str(error), "install python3 of your system")
            return
        yield Check("interpreter", "ok", f"hooks run {python}")
        for agent in agents or HOOKS_FILE:
            if agent in HOOKS_FILE:
                yield from self._agent(agent, python, named=bool(agents))
            else:
                yield self._plugin(python)
        if not agents and synaps.found(self._env):
            yield self._plugin(python)

    def _plugin(self, python: Path) -> Check:
        return synaps.check_plugin(self._env, self._places, self._config.profile, python)

    def _agent(self, agent: str, python: Path, *, named: bool) -> Iterator[Check]:
        program = shutil.which(agent, path=self._env.get("PATH"))
        installed = [path for path in self._files(agent) if path.exists()]
        tables = [(path, hooks.read_entries(agent, path)) for path in installed]
        broken = [table for _, table in tables if isinstance(table, Check)]
        ours = [(path, table) for path, table in tables if isinstance(table, dict) and table]
        yield from broken
        if not ours:
            if not broken:
                yield self._without_hooks(agent, program, named=named)
            return
        wanted = self._installer.table(agent, self._setting(), python)
        for path, table in ours:
            yield from self._entries(agent, path, table, wanted)
        yield from self._particular(agent, program, wanted)

    def _entries(
        self, agent: str, path: Path, table: hooks.Table, wanted: hooks.Table
    ) -> Iterator[Check]:
        yield hooks.check_entries(agent, path, table, wanted)
        yield hooks.check_deadlines(agent, table, self._config.approval.margin_s)
        own = hooks.trusted(table, wanted)
        yield from hooks.check_client(agent, own, self._places)
        for hook, installed in hooks.commands(own):
            if installed.event == "PreToolUse":
                yield play.play(hook["command"], installed, self._env, core_runs=self._core_runs)

    def _particular(self, agent: str, program: str | None, wanted: hooks.Table) -> Iterator[Check]:
        if agent == "claude":
            yield from claude.check_settings(self._env, self._cwd)
        elif program is not None:
            own = frozenset(hook["command"] for hook, _ in hooks.commands(wanted))
            yield codex.check_trust(program, own, self._cwd, self._env, fix=self._fix)

    def _without_hooks(self, agent: str, program: str | None, *, named: bool) -> Check:
        name = f"{agent}: hooks"
        if program is None and not home(agent, self._env).exists():
            return Check(name, "warn" if named else "ok", "not found on this machine")
        text = "none of watchgate are installed: nothing of this agent is seen or gated"
        return Check(name, "fail" if named else "warn", text, f"watchgate install {agent}")

    def _files(self, agent: str) -> Iterator[Path]:
        for scope in ("user", "project"):
            try:
                yield hooks_path(agent, scope, self._env, self._cwd)
            except Refusal:
                continue

    def _setting(self) -> Setting:
        approval = self._config.approval
        return Setting(profile=self._config.profile, client_deadline_s=approval.client_deadline_s)
