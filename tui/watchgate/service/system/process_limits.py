"""The limit of descriptors: raised for this process, given back to its children.

- Our own memory closed to other processes of the same user, as ssh-agent's is.
"""

from __future__ import annotations

import ctypes
import resource
import sys

import msgspec

_PR_SET_DUMPABLE = 4  # from <sys/prctl.h>


def close_own_memory() -> bool:
    """Leaves no core file, and on Linux lets no process of this user trace or read us.

    What is started gets its memory opened again by exec; only the soft limit on core files stays.
    Returns whether other processes are kept out. Where they are, `/proc/PID/environ`, `exe`, `fd`
    and `mem` of this process belong to root.
    """
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, hard))
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    return bool(libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)


WANTED = 65_536
"""More would help nobody, and some programs go through all that they might have."""

RESERVED = 384
"""Kept for control clients, the journal, handlers and whoever is being refused."""

CONTROL_CONNECTIONS = 128
CONTROL_SHARE = 32
INGEST_CONNECTIONS = 8_192
INGEST_SHARE = 1_024
_MINIMUM = 16


class ConnectionLimits(msgspec.Struct, frozen=True):
    """A socket's connections in all, and those of one asking process."""

    total: int
    share: int


_before: list[tuple[int, int]] = []


def raise_limit() -> None:
    """Lets this process hold as many descriptors as it may, up to `WANTED`."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = WANTED if hard == resource.RLIM_INFINITY else min(hard, WANTED)
    if _before or soft == resource.RLIM_INFINITY or soft >= limit:
        return
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    except (OSError, ValueError):  # macOS refuses what is more than a limit of its kernel
        return
    _before.append((soft, hard))


def restore_child_limit(pid: int) -> None:
    """Sets a new child's limit to the one that this process was started with, where possible."""
    if _before and sys.platform == "linux":
        try:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, _before[0])
        except OSError:  # it has ended, or runs as another user
            return


def ingest_limits() -> ConnectionLimits:
    """Returns the ingest socket's part of the descriptors that there are."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = INGEST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(soft - RESERVED, _MINIMUM)
    limit = min(left, INGEST_CONNECTIONS)
    return ConnectionLimits(limit, min(INGEST_SHARE, max(limit // 4, 1)))
