"""Which numbers of a call are processes of ours: the core, its clients, and their groups."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from watchgate.core import tool_input
from watchgate.core.events import Tool
from watchgate.core.policy.own_processes import numbers


class OwnProcesses:
    """Looks up the numbers of a call; `clients` are asked for the pids of all that are connected.

    A number is ours as a process and as its group: `kill -- -PGID` names the latter.
    """

    def __init__(self, core_pid: int) -> None:
        self.clients: list[Callable[[], Iterable[int]]] = []
        self._core_pid = core_pid

    def __call__(self, tool: Tool) -> frozenset[int]:
        """The numbers in the call's command that are ours."""
        text = tool_input.command(tool)
        named = numbers(text) if text else frozenset[int]()
        return named and named & self._ours()

    def _ours(self) -> frozenset[int]:
        pids = {self._core_pid, *(pid for each in self.clients for pid in each())} - {0}
        return frozenset(pids.union(map(_group, pids)) - {0})


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return pid
