"""Agents of this user that run now, and so still have the hooks that they started with."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

_PROC = Path("/proc")
_HOSTS = frozenset(("node", "bun", "nodejs"))


class Running(msgspec.Struct, frozen=True):
    """One process of an agent."""

    agent: str
    pid: int
    cwd: str


def running(agents: Iterable[str], proc: Path = _PROC) -> list[Running]:
    """The processes of these agents, as far as the system tells; empty where it has no `/proc`."""
    wanted = set(agents)
    found = []
    for directory in proc.glob("[0-9]*"):
        try:
            if directory.stat().st_uid != os.geteuid():
                continue
            words = (directory / "cmdline").read_bytes().split(b"\0")
            cwd = str((directory / "cwd").readlink())
        except OSError:
            continue
        names = {agent_name(os.fsdecode(word)) for word in _programs(words)}
        found += [Running(agent, int(directory.name), cwd) for agent in wanted & names]
    return sorted(found, key=lambda each: each.pid)


def agent_name(word: str) -> str:
    """The name that a program goes by: its file name without an extension."""
    return Path(word).name.removesuffix(".js")


def _programs(words: list[bytes]) -> list[bytes]:
    """The program, and the script where the program is an interpreter."""
    host = agent_name(os.fsdecode(words[0])) in _HOSTS
    return words[1:2] if host else words[:1]
