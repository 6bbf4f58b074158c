"""The usage of agents: the places where they write it down, and the interface of its readers.

Sources: the documented folders and variables of Claude Code 2.1, Codex CLI 0.169, Gemini CLI,
Qwen Code, OpenCode and Copilot CLI; `GEMINI_DATA_DIR`, `OPENCODE_DATA_DIR` and `QWEN_DATA_DIR` are
what counters of usage have in common for agents that have no variable of their own.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from watchgate.core.ledger.call import UsageCall
from watchgate.core.ledger.counted import Limit


class FileFacts(msgspec.Struct, kw_only=True):
    """The facts of a file so far.

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
        """Takes in some whole lines (of a whole-file source: all of it)."""
        ...

    def take(self) -> list[UsageCall]:
        """Returns the calls that are new or reported anew since the last time.

        Calls are told apart by `(id, request, side)`; one that is reported anew takes the place of
        the one before it.
        """
        ...


Form = Literal["lines", "whole", "rows"]
"""How a file is read: whole lines from where it ended last, all of it anew, or a database."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A place of one agent's files: `pattern` below `root`, as `pathlib.Path.glob` takes it."""

    agent: str
    root: str
    pattern: str
    form: Form = "lines"
