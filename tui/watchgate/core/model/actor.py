"""The process that took a decision, as a record names it."""

from __future__ import annotations

import msgspec

MAX_LINKS = 16
"""So many of a process's ancestors a record names."""


class ProcessLink(msgspec.Struct, frozen=True):
    """One process of a chain; `start` is, with the pid, equal only for the very same process."""

    pid: int
    start: str
    comm: str


class Actor(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A process that decided, by what proof, and what started it.

    `standing` is `clear`, `pin`, `code` or `key`, `token NAME` for a registered program, and
    `unproven` where nothing tells that it was a person's. `chain` begins with the process itself;
    `tty` is its terminal ("pts/3"), empty without one.
    """

    pid: int
    uid: int
    name: str
    standing: str
    tty: str = ""
    chain: tuple[ProcessLink, ...] = ()
