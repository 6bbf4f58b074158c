"""Adopts the processes that hooks leave behind, and finds and kills those of a session.

A process that detaches itself from its hook is adopted by the nearest process that asked for
that. Without one it is adopted by the system's first process, and nobody can tell it from an
operator's.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from watchgate.service.system.process_table import parse_stat

_PROC: Final = Path("/proc")
_TASKS: Final = _PROC / "self" / "task"
_KILL_ROUNDS: Final = 3
_ROUNDS: Final = 20
PR_SET_CHILD_SUBREAPER: Final = 36
"""prctl(2), Linux."""


def sessions_below(leader: int) -> frozenset[int]:
    """Returns the sessions that descendants of this leader made for themselves.

    To be asked while it lives: its children are nobody's once it has ended, and so a daemon whose
    parent is gone is not found. Without a `/proc` nobody is.
    """
    children: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for pid in _everybody():
        # Whoever has just ended has no descendants any more.
        with suppress(OSError):
            stat = parse_stat((_PROC / str(pid) / "stat").read_bytes())
            children[stat.parent].append((pid, stat.sid))
    sessions, below = set(), [leader]
    while below:
        for pid, session in children.pop(below.pop(), ()):
            sessions.add(session)
            below.append(pid)
    return frozenset(sessions - {leader})


def kill_sessions(leader: int, others: Collection[int] = ()) -> None:
    """Kills all that still run in the session of this leader, but for itself, and in the others."""
    sessions = {leader, *others}
    # What forks while it is being killed is met in the next round.
    for _ in range(_KILL_ROUNDS):
        members = [pid for pid in _members(sessions) if pid != leader]
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not members:
            return


def _members(sessions: Collection[int]) -> Iterator[int]:
    for pid in _everybody():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) in sessions:
                yield pid


def _everybody() -> Iterator[int]:
    # Without a `/proc` nobody can be found, and a group is all that can be killed.
    if _PROC.is_dir():
        names = os.listdir(_PROC)  # noqa: PTH208 - a thousand names, and no need for paths
        yield from (int(name) for name in names if name.isdigit())


@contextmanager
def adopt_orphans() -> Iterator[bool]:
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
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            return bool(ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, int(on), 0, 0, 0) == 0)
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
    for children in _TASKS.glob("*/children"):
        with suppress(OSError):
            pids += map(int, children.read_text().split())
    return pids


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(") ")[2][:1]
    except OSError:
        return ""
