"""Sinks: each takes the records it wants, delivers them in its own task, counts what it loses."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from watchgate.core.records import Record
from watchgate.service.sinks.sink import Sink


class Sinks:
    """A watcher of records beside the consoles; none of its sinks knows of the others."""

    def __init__(self, sinks: Sequence[Sink]) -> None:
        self._sinks = tuple(sinks)
        self._over = anyio.Event()

    def offer(self, record: Record) -> None:
        """Offers a record to every sink; never waits."""
        for sink in self._sinks:
            sink.offer(record)

    async def run(self) -> None:
        """Delivers until closed."""
        try:
            async with anyio.create_task_group() as tasks:
                for sink in self._sinks:
                    tasks.start_soon(sink.run)
        finally:
            self._over.set()

    async def drained(self) -> None:
        """Returns when `run` has ended."""
        await self._over.wait()

    def close(self) -> None:
        """Takes nothing more; `run` ends within 2 s, when what waits is delivered."""
        for sink in self._sinks:
            sink.close()

    def reports(self, *, every: bool = False) -> list[str]:
        """Returns what an operator should know since the last call, one text for a sink."""
        return [text for sink in self._sinks if (text := sink.report(every=every))]
