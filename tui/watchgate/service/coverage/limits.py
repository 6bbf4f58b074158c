"""The agent processes of this user: since when, where, with which hooks, under which limits."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from watchgate.agents.base import Adapter
from watchgate.core.recent import Recent
from watchgate.service.coverage.processes import PROC, AgentProcess, Processes
from watchgate.service.setup.doctor.check import Check

_KIB, _MIB = 1024, 1024 * 1024
_LIMITS_BYTES = 8_192
_MAX_REPORTED = 500

LEAST: Final = {
    "Max stack size": (256 * _KIB, "bytes of stack"),
    "Max data size": (32 * _MIB, "bytes of data"),
    "Max address space": (64 * _MIB, "bytes of memory"),
    "Max open files": (16, "open files"),
    "Max processes": (64, "processes"),
    "Max cpu time": (2, "seconds of CPU"),
}
"""Limits with which a hook runs, with room.

/bin/sh and the client were measured to need 34 KiB of stack and
more for a large environment, 5 MiB of data, 15 MiB of memory, 5 files and 1 s. A limit of processes
counts all of a user's."""


def too_small(text: str) -> list[str]:
    """Returns in words the limits of a `/proc/PID/limits` that are too small for a hook.

    Source: proc(5): a name, then the soft limit, the hard one and the unit, in columns.
    """
    faults = []
    for line in text.splitlines():
        for name, (minimum, unit) in LEAST.items():
            words = line.removeprefix(name).split()
            if not line.startswith(name) or not words or not words[0].isdecimal():
                continue
            if (soft := int(words[0])) < minimum:
                faults.append(f"{soft:,} {unit}, and a hook needs {minimum:,}")
    return faults


class Limits:
    """Reports each process once, and again when another of its limits is too small."""

    def __init__(self, proc: Path) -> None:
        self._proc = proc
        self._reported: Recent[tuple[int, int], list[str]] = Recent(_MAX_REPORTED)

    def narrow(self, processes: Iterable[AgentProcess]) -> list[tuple[AgentProcess, str]]:
        """Returns the processes whose hooks cannot run, each with the reason in words."""
        narrow = []
        for process in processes:
            key = process.pid, process.start
            words = self.of(process.pid)
            if words and self._reported.get(key) != words:
                self._reported[key] = words
                narrow.append((process, "; ".join(words)))
        return narrow

    def of(self, pid: int) -> list[str]:
        """Returns the limits of a process that are too small; empty where it cannot be read."""
        try:
            with (self._proc / str(pid) / "limits").open("rb") as file:
                return too_small(file.read(_LIMITS_BYTES).decode(errors="replace"))
        except OSError:
            return []


def check_limits(agents: Sequence[Adapter], proc: Path = PROC) -> Iterator[Check]:
    """Yields the doctor's findings: one for each running agent whose hooks cannot run."""
    running = Processes({each.name: each for each in agents}, proc).look()
    for process, words in Limits(proc).narrow(running):
        text = f"pid {process.pid} in {process.cwd} has {words}: its hooks die, and its calls run"
        mend = "start it again where `ulimit -a` shows larger limits"
        yield Check(f"{process.agent}: limits", "fail", text, mend)
