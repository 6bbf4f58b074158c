"""Finds and kills the processes of a session, and of the sessions made below it."""

from __future__ import annotations

import os
import signal
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from watchgate.service.process_table import parse_stat

_PROC: Final = Path("/proc")
_ROUNDS: Final = 3


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
    """Kills all that still run in the session of this leader, but for itself, and in the others.

    Where there is no `/proc` nobody can be found, and the group was all that could be killed.
    """
    sessions = {leader, *others}
    # What forks while it is being killed is met in the next round.
    for _ in range(_ROUNDS):
        members = [pid for pid in _members(sessions) if pid != leader]
        for pid in members:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not members:
            return


def signal_name(number: int) -> str:
    """Returns the name of a signal; `signal N` for one without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _members(sessions: Collection[int]) -> Iterator[int]:
    for pid in _everybody():
        with suppress(ProcessLookupError, PermissionError):
            if os.getsid(pid) in sessions:
                yield pid


def _everybody() -> Iterator[int]:
    if _PROC.is_dir():
        names = os.listdir(_PROC)  # noqa: PTH208 - a thousand names, and no need for paths
        yield from (int(name) for name in names if name.isdigit())
