"""The states of every agent on this machine: present, installed, trusted.

The console's first screen, `install` without names, `agent ls`, `lookback` and the doctor all
ask here.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter
from watchgate.core.config.config import Config
from watchgate.core.model.agent_state import AgentState
from watchgate.core.policy.rules.profiles import Profile
from watchgate.link.paths import Paths
from watchgate.service.setup import hook_checks, manifest
from watchgate.service.setup.agent_files import (
    SCOPES,
    InstallRefusal,
    Scope,
    agent_home,
    hook_path,
    setup_of,
)
from watchgate.service.setup.codex_trust import READS
from watchgate.service.setup.hook_checks import Check
from watchgate.service.setup.hook_client import NoInterpreterError, base_interpreter
from watchgate.service.setup.hook_files import FileChange, HookFile
from watchgate.service.setup.installer import Installer, hook_settings
from watchgate.service.setup.manifest import stamp_of
from watchgate.service.setup.running_agents import process_names


class AgentStates:
    """Reads the states of agents, for one user in one folder.

    `python` is the interpreter of the hooks and `native` says that they run the native client; both
    are found out where they are not given.
    """

    def __init__(
        self,
        places: Paths,
        config: Config,
        env: Mapping[str, str],
        cwd: Path,
        *,
        python: Path | None = None,
        native: bool | None = None,
    ) -> None:
        """Reads nothing yet.

        Args:
            places: Watchgate's own paths.
            config: The configuration in force.
            env: The environment in which agents' settings are looked up.
            cwd: The folder whose project is looked at.
            python: The interpreter of the hooks; None: found here.
            native: Whether hooks run the native client; None: tried here.
        """
        self._places = places
        self._env = env
        self._cwd = cwd
        self._python = python or _interpreter()
        self._setting = hook_settings(config, places, self._python, native=native)
        self._profile = config.profile
        self._known: dict[tuple[str, Scope, Path], tuple[object, list[Check]]] = {}

    def of(self, agents: Iterable[Adapter]) -> list[AgentState]:
        """Returns the state of each of these agents, in their order."""
        agents = list(agents)
        present, roots = self.present(agents), self._roots()
        return [
            self._state(each, each.name in present, roots.get(each.name, ())) for each in agents
        ]

    def present(self, agents: Sequence[Adapter]) -> frozenset[str]:
        """Returns the agents whose program or folder is on this machine."""
        homes = {each.name: agent_home(each.setup, self._env) for each in agents if each.setup}
        # A folder that several agents use says nothing of any of them.
        shared = Counter(homes.values())
        there = {name for name, own in homes.items() if shared[own] == 1 and own.exists()}
        return frozenset(there | {each.name for each in agents if self.program(each)})

    def program(self, agent: Adapter) -> str | None:
        """Returns the path of the agent's program; None where the search path has none."""
        names = process_names(agent)
        paths = (shutil.which(name, path=self._env.get("PATH")) for name in names)
        return next((path for path in paths if path), None)

    def parts(self, agent: Adapter, root: Path | None = None) -> Iterator[tuple[Scope, HookFile]]:
        """Yields every file that may hold hooks of ours, those of the project in `root`."""
        installer = self._installer(root)
        for scope in SCOPES:
            try:
                parts = installer.parts(agent, scope, self._setting, self._python)
            except InstallRefusal:
                continue
            yield from ((scope, part) for part in parts)

    def plan(
        self, agent: Adapter, scope: Scope, root: Path | None = None, *, profile: str = ""
    ) -> tuple[FileChange, ...]:
        """Returns the edits of an installation, for another `profile` too; raises `Refusal`."""
        installer, wanted = self._installer(root), profile or self._profile
        setting = msgspec.structs.replace(self._setting, profile=wanted)
        return installer.plan_install(agent, scope, setting, self._python)

    def trusts(self, agent: Adapter) -> bool | None:
        """Returns whether an agent's files say that it trusts our hooks of this user.

        None where they do not tell.
        """
        reads = READS.get(agent.name)
        return None if reads is None else reads(hook_path(agent, "user", self._env, self._cwd))

    def _installer(self, root: Path | None) -> Installer:
        return Installer(self._places, self._env, root or self._cwd)

    def _roots(self) -> dict[str, list[Path]]:
        """Returns the projects of each agent with hooks in the list, as far as they exist."""
        roots: dict[str, list[Path]] = {}
        for entry in manifest.load_or_fault(self._places.installed)[0]:
            if entry.root and Path(entry.root) != self._cwd and Path(entry.root).is_dir():
                roots.setdefault(entry.agent, []).append(Path(entry.root))
        return roots

    def _state(self, agent: Adapter, is_present: bool, roots: Sequence[Path]) -> AgentState:
        if agent.setup is None:
            return AgentState(
                agent=agent.name, title=agent.title, is_present=is_present, hookless=True
            )
        scopes: dict[Scope, None] = {}
        wrong: list[Check] = []
        lanes: dict[Scope, set[str]] = {}
        for root in dict.fromkeys((self._cwd, *roots)):
            files: dict[Scope, list[Path]] = {}
            own: dict[Scope, None] = {}
            for scope, part in self.parts(agent, root):
                files.setdefault(scope, []).append(part.path)
                table = hook_checks.read_entries(agent, part)
                if isinstance(table, Check):
                    wrong.append(table)
                elif table:
                    own[scope] = None
                    lanes.setdefault(scope, set()).update(
                        hook_checks.hook_lanes(agent, part, table)
                    )
            scopes |= own
            for scope in own:
                wrong += self._outdated(agent, scope, root, files[scope])
        trusted = self.trusts(agent) if not scopes or "user" in scopes else None
        faults = [each for each in wrong if _install(agent) not in each.mend]
        if scopes:
            checks = hook_checks.check_silencers(agent, setup_of(agent), self._env, self._cwd)
            faults += [each for each in checks if each.status == "fail"]
        return AgentState(
            agent=agent.name,
            title=agent.title,
            is_present=is_present,
            installed=bool(scopes),
            scopes=tuple(scopes),
            up_to_date=bool(scopes) and not wrong,
            # Those of a project are asked in that project alone.
            holds=hook_checks.hold_calls(lanes.get("user") or set().union(*lanes.values())),
            profile=self._profile,
            trusted=trusted,
            fault=faults[0].text if faults else "",
            mend=faults[0].mend if faults else "",
        )

    def _outdated(
        self, agent: Adapter, scope: Scope, root: Path, paths: Sequence[Path]
    ) -> list[Check]:
        """Returns the checks of what an installation would change, anew once a file has changed."""
        key, stamps = (agent.name, scope, root), [stamp_of(each) for each in paths]
        known = self._known.get(key)
        if known is None or known[0] != stamps:
            known = self._known[key] = stamps, self._planned(agent, scope, root)
        return known[1]

    def _planned(self, agent: Adapter, scope: Scope, root: Path) -> list[Check]:
        try:
            changes = self.plan(agent, scope, root)
        except InstallRefusal as refusal:
            return [Check(f"{agent.name}: hooks", "fail", str(refusal), "mend the file by hand")]
        checks = hook_checks.check_all_entries(agent, changes)
        return [each for each in checks if each.status != "ok"]


def states_reader(
    places: Paths,
    config: Config,
    env: Mapping[str, str],
    agents: Iterable[Adapter],
    profile: Callable[[], Profile],
) -> Callable[[], list[AgentState]]:
    """Returns a function that reads the states of these agents, for no folder of its own.

    Args:
        places: Watchgate's own paths.
        config: The configuration, but for its profile.
        env: The environment in which agents' settings are looked up.
        agents: The agents to read.
        profile: Returns the profile in force by now.
    """

    @cache
    def states(profile: Profile) -> AgentStates:
        in_force = msgspec.structs.replace(config, profile=profile)
        return AgentStates(places, in_force, env, Path("/"))

    return lambda: states(profile()).of(agents)


def _install(agent: Adapter) -> str:
    return f"watchgate install {agent.name}"


def _interpreter() -> Path:
    try:
        return base_interpreter()
    except NoInterpreterError:
        return Path("python3")  # hooks that name another one are shown as old, which they are
