"""The states of the agents on this machine, for `install` without names and for `agent ls`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from watchgate.cli.base.ask import core_profile
from watchgate.cli.base.command_environment import agents_known, configured, here, overridden
from watchgate.cli.base.printing import Exit, Stop, say, table

if TYPE_CHECKING:
    from watchgate.agents.base import Adapter
    from watchgate.core.config.config import Config
    from watchgate.core.model.agent_state import AgentState

STATE_HEAD = ("FOUND", "INSTALLED", "TRUSTED")


def in_force(config: Config) -> Config:
    """The configuration with the profile of the core that runs, where one answers."""
    try:
        return overridden(config, core_profile(), None)
    except Stop:
        return config


def states_here(agents: Iterable[Adapter] | None = None) -> list[AgentState]:
    """Returns the states of these agents, by default all, on this machine and in this folder.

    Their hooks are held against the profile in force: the running core's, where there is one.
    """
    from watchgate.service.setup.agent_states import AgentStates

    paths = here(sockets=False)
    config = in_force(configured(paths))
    known = agents_known(paths, config).values() if agents is None else agents
    return AgentStates(paths, config, os.environ, Path.cwd()).of(known)


def state_cells(state: AgentState) -> tuple[str, str, str]:
    """The three states of an agent as cells of a table; a dash where there is nothing to say."""
    installed = ", ".join(state.scopes) or "no"
    if state.holds is False:
        installed = f"{installed}, only watch"
    elif state.at_odds:
        installed = f"{installed}, but profile watch"
    elif state.installed and not state.ready and state.trusted is not False:
        installed = f"{installed}, {'cannot run' if state.fault else 'old'}"
    trusted = {None: "-", True: "yes", False: "no"}[state.trusted if state.installed else None]
    return "yes" if state.is_present else "no", "-" if state.hookless else installed, trusted


def list_states() -> int:
    """Lists how the agents of this machine stand, and what brings hooks in."""
    states = [each for each in states_here() if not each.hookless]
    shown = [each for each in states if each.is_present or each.installed]
    if shown:
        rows = [(each.agent, *state_cells(each), each.next) for each in shown]
        table(("AGENT", *STATE_HEAD, "NEXT"), rows)
        say()
    absent = ", ".join(each.agent for each in states if each not in shown)
    if absent:
        say(f"Not found here: {absent}")
    say("`watchgate install AGENT...` puts our hooks in; with --dry-run it shows the diff first.")
    return Exit.DONE
