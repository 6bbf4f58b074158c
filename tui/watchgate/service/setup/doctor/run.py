"""The doctor's round: this machine first, then each agent."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from watchgate.agents.base import Adapter
from watchgate.core.config import Config
from watchgate.link.paths import Paths
from watchgate.service.setup import native_client
from watchgate.service.setup.doctor import (
    client,
    codex,
    entries,
    play,
    silencers,
    variables,
)
from watchgate.service.setup.doctor.check import Check
from watchgate.service.setup.doctor.parser import check_parser
from watchgate.service.setup.doctor.places import CORE, check_places
from watchgate.service.setup.doctor.presence import check_presence
from watchgate.service.setup.doctor.terminal import check_tmux
from watchgate.service.setup.forms.editor import Table
from watchgate.service.setup.installer import Installer, Setting
from watchgate.service.setup.interpreter import NoInterpreterError, base_interpreter
from watchgate.service.setup.parts import Part
from watchgate.service.setup.running import process_names
from watchgate.service.setup.targets import Refusal, Scope, home, setup_of

_SCOPES: tuple[Scope, ...] = ("user", "project")
_TRUST = {"codex": codex.check_trust}
"""How to ask an agent whether it trusts our hooks, where it can be asked."""


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
        self._core_runs = self._native = False
        self._shared: set[Path] = set()
        self._installer = Installer(places, env, cwd)

    def checks(self, agents: Sequence[Adapter], *, named: bool) -> Iterator[Check]:
        """Every finding, as it is made; of agents that nobody `named`, only what is there."""
        for check in check_places(self._places, fix=self._fix):
            self._core_runs |= check.check == CORE and check.status == "ok"
            yield check
        yield from check_presence(self._places)
        yield check_parser()
        yield from check_tmux(self._env)
        try:
            python = base_interpreter()
        except NoInterpreterError as error:
            yield Check("interpreter", "fail", str(error), "install python3 of your system")
            return
        yield Check("interpreter", "ok", f"hooks run {python}")
        yield from self._try_native(python)
        homes = Counter(home(each.setup, self._env) for each in agents if each.setup is not None)
        self._shared = {path for path, count in homes.items() if count > 1}
        for agent in agents:
            if agent.setup is not None:
                yield from self._agent(agent, python, named=named)
            elif named:
                yield Check(f"{agent.name}: hooks", "ok", f"{agent.title} needs no installation")

    def _try_native(self, python: Path) -> Iterator[Check]:
        """Whether hooks run the native client, in a package that carries one."""
        self._native = native_client.works(self._places, python)
        if self._native:
            text = "it answers here: `watchgate install` has hooks run it, not the interpreter"
            yield Check("native client", "ok", text)
        elif native_client.packaged() is not None:
            text = "the one in this package does not run here: hooks run the one in Python"
            yield Check("native client", "warn", text, "install a wheel built on this machine")

    def _agent(self, agent: Adapter, python: Path, *, named: bool) -> Iterator[Check]:
        installed: list[tuple[Scope, Part, Table]] = []
        broken = False
        for scope, part in self._parts(agent, python):
            found = entries.read_entries(agent, part)
            if isinstance(found, Check):
                broken = True
                yield found
            elif found:
                installed.append((scope, part, found))
        if not installed:
            if not broken:
                yield from self._without_hooks(agent, named=named)
            return
        for scope in dict.fromkeys(scope for scope, _, _ in installed):
            yield from self._files(agent, scope, python)
        programs: set[Path | None] = set()
        for _, part, found in installed:
            yield from entries.check_order(agent, part)
            own = list(entries.commands(part, entries.trusted(found, part.table)))
            programs |= {each.python for _, each in own}
        yield from client.check_client(agent, programs, self._places)
        for _, part, found in installed:
            yield from self._tried(agent, part, found)
        yield from self._particular(agent, [part for _, part, _ in installed])

    def _files(self, agent: Adapter, scope: Scope, python: Path) -> Iterator[Check]:
        try:
            changes = self._installer.plan_install(agent, scope, self._setting(), python)
        except Refusal as refusal:
            yield Check(f"{agent.name}: hooks", "fail", str(refusal), "mend the file by hand")
            return
        approval = self._config.approval
        yield from entries.check_all_entries(agent, changes)
        for change in changes:
            found = change.part.editor.ours(change.found.text)
            deadlines = approval.margin_s, approval.client_deadline_s
            yield from entries.check_deadlines(agent, change.part, found, *deadlines)
            yield from entries.check_switches(agent, setup_of(agent), change)

    def _tried(self, agent: Adapter, part: Part, found: Table) -> Iterator[Check]:
        own = entries.trusted(found, part.table)
        for written, installed in entries.commands(part, own):
            check = play.play(
                agent, written.command, installed, self._env, core_runs=self._core_runs
            )
            if check is not None:
                yield check

    def _particular(self, agent: Adapter, parts: Sequence[Part]) -> Iterator[Check]:
        setup = setup_of(agent)
        yield from silencers.check_silencers(agent, setup, self._env, self._cwd)
        yield from variables.check_variables(agent, setup, self._env, self._cwd)
        check_trust = _TRUST.get(agent.name)
        program = self._program(agent)
        if check_trust is not None and program is not None:
            own = frozenset(
                written.command for part in parts for written in part.editor.written(part.table)
            )
            yield check_trust(program, own, self._cwd, self._env, fix=self._fix)
        elif setup.after and check_trust is None:
            yield Check(f"{agent.name}: note", "ok", setup.after)

    def _without_hooks(self, agent: Adapter, *, named: bool) -> Iterator[Check]:
        name = f"{agent.name}: hooks"
        setup = setup_of(agent)
        own = home(setup, self._env)
        # A folder that several agents use says nothing of any of them.
        shared = own in self._shared
        if self._program(agent) is None and (shared or not own.exists()):
            if named:
                yield Check(name, "warn", "not found on this machine")
            return
        text = "none of watchgate are installed: nothing of this agent is seen or gated"
        yield Check(name, "fail" if named else "warn", text, f"watchgate install {agent.name}")

    def _program(self, agent: Adapter) -> str | None:
        names = process_names(agent)
        found = (shutil.which(name, path=self._env.get("PATH")) for name in names)
        return next((each for each in found if each), None)

    def _parts(self, agent: Adapter, python: Path) -> Iterator[tuple[Scope, Part]]:
        for scope in _SCOPES:
            try:
                parts = self._installer.parts(agent, scope, self._setting(), python)
            except Refusal:
                continue
            yield from ((scope, part) for part in parts)

    def _setting(self) -> Setting:
        approval = self._config.approval
        return Setting(
            profile=self._config.profile,
            client_deadline_s=approval.client_deadline_s,
            margin_s=approval.margin_s,
            native=self._native,
            status_line="keep",
        )
