"""Indexes the followed files, with the facts in them; unchanged ones come from a cache."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.agents.usage.base import FileFacts
from watchgate.core.ledger.counted import Limit

Key = tuple[str, str]
"""An agent and a session of it."""


class Unreadable(msgspec.Struct, frozen=True):
    """Lines and files that should hold usage and cannot be read: sums may lack that much."""

    lines: int = 0
    files: int = 0


class SessionFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Facts in the files of a session beside its calls; empty or None where they lack.

    `limits` are those of the agent's account, as told at `limits_at_us` (UTC µs). `unreadable`
    counts lines of the session's files.
    """

    cwd: str = ""
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Limit, ...] = ()
    limits_at_us: int = 0
    unreadable: int = 0


def joined(files: Iterable[tuple[int, FileFacts, int]]) -> SessionFacts:
    """Joins the facts of files: each its time of writing, facts, and unreadable lines.

    The context is that of the newest file of the session itself, not of a sub-agent.
    """
    limits: tuple[Limit, ...] = ()
    cwd, used, size, limits_at, unreadable = "", None, None, 0, 0
    for _written, facts, lines in sorted(files, key=lambda each: each[0]):
        unreadable += lines
        if facts.limits and facts.limits_at_us >= limits_at:
            limits, limits_at = facts.limits, facts.limits_at_us
        if facts.sub:
            continue
        cwd = facts.cwd or cwd
        if facts.context_used is not None:
            used = facts.context_used
        if facts.context_size is not None:
            size = facts.context_size
    return SessionFacts(
        cwd=cwd,
        context_used=used,
        context_size=size,
        limits=limits,
        limits_at_us=limits_at,
        unreadable=unreadable,
    )
