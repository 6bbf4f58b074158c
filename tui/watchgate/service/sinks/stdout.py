"""Prints lines on stdout, which has to be nobody else's (CW-15)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.thread import Done, Thread

STDOUT = 1


class Stdout:
    """Writes to a descriptor; one that nobody reads keeps only this sink's thread waiting."""

    at_once = 256
    mend = "let something read what the core prints, or use a jsonl sink"

    def __init__(self, descriptor: int = STDOUT) -> None:
        self._descriptor = descriptor
        self._thread = Thread("watchgate stdout sink")

    async def send(self, entries: Sequence[bytes]) -> None:
        """Prints the entries; raises `Undelivered`."""
        sent, why = await self._thread.do(lambda: _print(self._descriptor, entries))
        if why:
            raise Undelivered(why, then="drop-all", sent=sent)

    def close(self) -> None:
        """Leaves stdout open: it was there before."""


def _print(descriptor: int, entries: Sequence[bytes]) -> Done:
    sent = 0
    try:
        for entry in entries:
            left = memoryview(entry)
            while left:
                left = left[os.write(descriptor, left) :]
            sent += 1
    except OSError as error:
        return sent, f"stdout: {error.strerror or error}"
    return sent, ""
