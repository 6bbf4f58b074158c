"""Finds the numbers in a call that are processes of ours: the core, its clients, their groups."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from watchgate.core.model.events import Tool
from watchgate.core.policy.inputs.text_guards import numbers_in
from watchgate.core.tools import tool_input


class OwnProcesses:
    """Finds our pids in a call; `clients` yield the pids of all that are connected.

    A number is ours as a process and as its group: `kill -- -PGID` names the latter.
    """

    def __init__(self, core_pid: int) -> None:
        self.clients: list[Callable[[], Iterable[int]]] = []
        self._core_pid = core_pid

    def __call__(self, tool: Tool) -> frozenset[int]:
        """Returns the numbers in the call's command that are ours."""
        text = tool_input.command(tool)
        named = numbers_in(text) if text else frozenset[int]()
        return named and named & self._ours()

    def _ours(self) -> frozenset[int]:
        pids = {self._core_pid, *(pid for each in self.clients for pid in each())} - {0}
        return frozenset(pids.union(map(_group, pids)) - {0})


def _group(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return pid
