"""Finds agents of this user that run now, and still have the hooks they started with."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path

import msgspec

from watchgate.agents.base import Adapter

_PROC = Path("/proc")
_HOSTS = re.compile(r"node|nodejs|bun|deno|python[\d.]*")
_EXTENSIONS = re.compile(r"\.(?:[cm]?js|ts|py|exe)$")


class RunningAgent(msgspec.Struct, frozen=True):
    """One process of an agent."""

    agent: str
    pid: int
    cwd: str


def running_agents(agents: Iterable[Adapter], proc: Path = _PROC) -> list[RunningAgent]:
    """Returns the processes of these agents; empty where the system has no `/proc`."""
    wanted = {name: agent.name for agent in agents for name in process_names(agent)}
    processes = []
    for directory in proc.glob("[0-9]*"):
        try:
            if directory.stat().st_uid != os.geteuid():
                continue
            words = (directory / "cmdline").read_bytes().split(b"\0")
            cwd = str((directory / "cwd").readlink())
        except OSError:
            continue
        name = program_name([os.fsdecode(word) for word in words])
        if name in wanted:
            processes.append(RunningAgent(wanted[name], int(directory.name), cwd))
    return sorted(processes, key=lambda each: each.pid)


def process_names(agent: Adapter) -> tuple[str, ...]:
    """Returns the names that an agent's program may have."""
    return (agent.setup.process if agent.setup else ()) or (agent.name,)


def program_name(words: list[str]) -> str:
    """Returns the file name of what runs, without extension: a script's where a host runs one."""
    name = _base(words[0])
    if not _HOSTS.fullmatch(name):
        return name
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return _base(script)


def _base(word: str) -> str:
    return _EXTENSIONS.sub("", Path(word).name)
