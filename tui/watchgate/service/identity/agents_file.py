"""`agents.json` in the state directory: the agents' processes, for a core that restarts.

A process counts by its pid and its start, and only until the machine is started again.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import msgspec

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.service import own_file
from watchgate.service.askers import Session
from watchgate.service.off_switch import boot_id
from watchgate.service.process_table import Proc


class _Process(msgspec.Struct, frozen=True, kw_only=True):
    pid: int
    start: str
    comm: str


class _Agent(_Process, frozen=True, kw_only=True):
    agent: str
    session: str


class _File(msgspec.Struct, frozen=True, kw_only=True):
    boot: str
    agents: tuple[_Agent, ...] = ()
    first: _Process | None = None
    version: int = 1


class AgentsError(Exception):
    """The file cannot be read; the message says why."""


class Agents(NamedTuple):
    """The processes with their sessions, and the one that began before all others, alive or not."""

    known: tuple[tuple[Proc, Session], ...] = ()
    first: Proc | None = None


def load(path: Path) -> Agents:
    """Returns the agents that an earlier core knew; raises `AgentsError`.

    A process from before the machine was started again is no process of now, and its session is
    over.
    """
    try:
        agents_file = decoding.decode(own_file.read(path), _File)
        is_over = agents_file.boot != boot_id()
    except FileNotFoundError:
        return Agents()
    except (OSError, *JSON_FAULTS) as fault:
        raise AgentsError(f"{path}: {fault}") from None
    known = tuple(
        (Proc(0, "", each.comm) if is_over else _proc(each), (each.agent, each.session))
        for each in agents_file.agents
    )
    first = None if is_over or agents_file.first is None else _proc(agents_file.first)
    return Agents(known, first)


def save(path: Path, agents: Agents) -> None:
    """Writes them to disk, replacing the file in one step. Raises `OSError`."""
    entries = tuple(
        _Agent(pid=one.pid, start=one.start, comm=one.comm, agent=agent, session=session)
        for one, (agent, session) in agents.known
    )
    one = agents.first
    first = None if one is None else _Process(pid=one.pid, start=one.start, comm=one.comm)
    own_file.replace(path, msgspec.json.encode(_File(boot=boot_id(), agents=entries, first=first)))


def _proc(process: _Process) -> Proc:
    return Proc(process.pid, process.start, process.comm)
