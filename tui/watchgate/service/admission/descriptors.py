"""The limit of descriptors: raised for this process, given back to its children."""

from __future__ import annotations

import resource
import sys

import msgspec

WANTED = 65_536
"""More would help nobody, and some programs go through all that they might have."""

RESERVED = 384
"""Kept for control clients, the journal, handlers and whoever is being refused."""

CONTROL_CONNECTIONS = 128
CONTROL_SHARE = 32
INGEST_CONNECTIONS = 8_192
INGEST_SHARE = 1_024
_MINIMUM = 16


class Limits(msgspec.Struct, frozen=True):
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


def give_back(pid: int) -> None:
    """Sets a new child's limit to the one that this process was started with, where possible."""
    if _before and sys.platform == "linux":
        try:
            resource.prlimit(pid, resource.RLIMIT_NOFILE, _before[0])
        except OSError:  # it has ended, or runs as another user
            return


def ingest_limits() -> Limits:
    """Returns the ingest socket's part of the descriptors that there are."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    left = INGEST_CONNECTIONS if soft == resource.RLIM_INFINITY else max(soft - RESERVED, _MINIMUM)
    limit = min(left, INGEST_CONNECTIONS)
    return Limits(limit, min(INGEST_SHARE, max(limit // 4, 1)))
