"""Adopts the processes that hooks leave behind, so that they end with the core.

A process that detaches itself from its hook is adopted by the nearest process that asked for
that. Without one it is adopted by the system's first process, and nobody can tell it from an
operator's.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

PR_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2), Linux."""

_TASKS: Final = Path("/proc/self/task")
_ROUNDS: Final = 20


@contextmanager
def taken_in() -> Iterator[bool]:
    """Adopts, for the length of the block, what this process's descendants leave behind.

    Gives whether that is so; at the end everything that is left below this process is killed. Only
    for a process that starts nothing but hooks.
    """
    adopts = _adopt(on=True)
    try:
        yield adopts
    finally:
        if adopts:
            _kill_children()
            _adopt(on=False)


class Orphans:
    """Reaps adopted processes that have ended; others wait for their own children themselves."""

    def __init__(self) -> None:
        self._dead: frozenset[int] = frozenset()

    def reap(self) -> None:
        """Reaps what was dead already when this was last called: nobody else waits for that."""
        dead = frozenset(pid for pid in _children() if _state(pid) == "Z")
        for pid in dead & self._dead:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        self._dead = dead


def _adopt(*, on: bool) -> bool:
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _kill_children() -> None:
    # What a killed process had started itself is adopted in turn, and met in the next round.
    for _ in range(_ROUNDS):
        children = _children()
        for pid in children:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, 0)
        if not children:
            return


def _children() -> list[int]:
    pids: list[int] = []
    with suppress(FileNotFoundError):
        for task in _TASKS.iterdir():
            with suppress(OSError):
                pids += map(int, (task / "children").read_text().split())
    return pids


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(") ")[2][:1]
    except OSError:
        return ""
