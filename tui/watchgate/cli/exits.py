"""Exit codes, and the one way in which a command gives up."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes that a script can rely on."""

    DONE = 0
    REFUSED = 1
    USAGE = 2
    NO_CORE = 3
    TOO_LATE = 4


class Stop(Exception):
    """A command cannot go on: the message says why and how to mend it."""

    def __init__(self, message: str, code: Exit = Exit.REFUSED) -> None:
        super().__init__(message)
        self.code = code
