"""What every reader of usage provides: lines of one file become calls of a model."""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.counted import Limit


class FileFacts(msgspec.Struct, kw_only=True):
    """What a file tells of itself so far.

    `thread` is what it was written for and `parent` the thread that it was forked from, where the
    ids of its calls depend on that (Codex). `context_used` tokens of `context_size` are in the
    context of the session itself.
    """

    session: str = ""
    sub: str = ""
    thread: str = ""
    parent: str = ""
    cwd: str = ""
    context_used: int | None = None
    context_size: int | None = None
    limits: tuple[Limit, ...] = ()
    limits_at_us: int = 0


class UsageReader(Protocol):
    """Reads one file in order; it holds no descriptor and never raises for what a file holds."""

    facts: FileFacts
    unreadable: int

    def read(self, chunk: bytes) -> None:
        """Take some whole lines (of a whole-file source: all of it) in."""
        ...

    def take(self) -> list[UsageCall]:
        """The calls that are new or told anew since this was last asked, by `(id, request, side)`.

        A call that is told anew takes the place of the one before it.
        """
        ...


Form = Literal["lines", "whole", "rows"]
"""How a file is read: whole lines from where it ended last, all of it anew, or a database."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Where files of one agent lie: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: Form = "lines"
