"""Sinks: each takes the records it wants, delivers them in its own task, counts what it loses."""

from __future__ import annotations

from collections.abc import Sequence

import anyio

from watchgate.core.records import Record
from watchgate.service.boundary import contained
from watchgate.service.sinks.counters import SinkCounters, Tally
from watchgate.service.sinks.delivery import Delivery, Undelivered
from watchgate.service.sinks.envelope import Wrap
from watchgate.service.sinks.waiting import CLOSED, LIMIT_BYTES, Waiting

FLUSH_S = 2.0
BATCH_BYTES = 256 * 1024
PAUSE_FIRST_S = 0.1
PAUSE_MAX_S = 5.0


class Sink:
    """A sink of any kind: whatever the delivery does, `offer` never waits and never raises."""

    def __init__(
        self,
        name: str,
        kinds: Sequence[str],
        wrap: Wrap,
        delivery: Delivery,
        *,
        queue: int,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        """Starts without any record.

        Args:
            name: The sink's name in reports.
            kinds: The kinds of records to take; `family.*` takes a whole family.
            wrap: Writes a record as lines.
            delivery: The way to the destination.
            queue: So many records wait at most.
            limit_bytes: So many bytes of lines wait at most.
        """
        self.name = name
        self._exact = frozenset(kinds)
        self._families = tuple(kind[:-1] for kind in kinds if kind.endswith("*"))
        self._delivery = delivery
        self._tally = Tally(name, delivery.mend)
        self._waiting = Waiting(wrap, self._tally, limit=queue, limit_bytes=limit_bytes)
        self._scope: anyio.CancelScope | None = None
        self._closing = anyio.Event()
        self._pause_s = PAUSE_FIRST_S
        self._in_hand = 0

    @property
    def counters(self) -> SinkCounters:
        """Returns the fate of the records so far, in numbers."""
        return self._tally.counters

    def offer(self, record: Record) -> None:
        """Takes a record if it is of a kind that this sink wants."""
        if record.kind in self._exact or record.kind.startswith(self._families):
            self._waiting.offer(record)

    def report(self, *, every: bool = False) -> str | None:
        """Returns what an operator should know since the last call, see `Tally.report`."""
        return self._tally.report(every=every)

    def close(self) -> None:
        """Takes nothing more and lets `run` end, within 2 s, when what waits is delivered."""
        self._waiting.end()
        self._closing.set()
        self._set_end()

    async def run(self) -> None:
        """Delivers until closed; what is left then is counted as dropped."""
        try:
            with anyio.CancelScope() as self._scope:
                self._set_end()
                async with anyio.create_task_group() as tasks:
                    tasks.start_soon(self._waiting.pack)
                    while entries := await self._waiting.take(self._delivery.at_once, BATCH_BYTES):
                        await self._deliver(entries)
        finally:
            self._waiting.end()
            self._tally.lose(self._in_hand + self._waiting.clear(), CLOSED)
            self._delivery.close()

    def _set_end(self) -> None:
        if self._scope is not None and self._closing.is_set():
            self._scope.deadline = anyio.current_time() + FLUSH_S

    async def _deliver(self, entries: list[bytes]) -> None:
        self._in_hand = len(entries)
        failed: list[Undelivered] = []
        with contained(lambda where: failed.append(_internal(where))):
            try:
                await self._delivery.send(entries)
            except Undelivered as undelivered:
                failed.append(undelivered)
        self._in_hand = 0
        for fault in failed:
            self._count(entries, fault)
            if fault.then != "drop":
                await self._pause()
        if not failed:
            self._tally.delivered(len(entries))
            self._pause_s = PAUSE_FIRST_S

    def _count(self, entries: list[bytes], fault: Undelivered) -> None:
        tally, left = self._tally, entries[fault.sent :]
        tally.sent += fault.sent
        tally.failing(fault.why, quiet=fault.quiet)
        match fault.then:
            case "retry":
                self._waiting.give_back(left)
            case "drop":
                tally.failed += len(left)
            case "drop-all":
                count = len(left) + self._waiting.clear()
                if fault.quiet:
                    tally.lose_quietly(count)
                else:
                    tally.lose(count, fault.why)

    async def _pause(self) -> None:
        pause_s, self._pause_s = self._pause_s, min(self._pause_s * 2, PAUSE_MAX_S)
        if self._closing.is_set() and len(self._waiting):
            await anyio.sleep(pause_s)
        with anyio.move_on_after(pause_s):
            await self._closing.wait()


def _internal(where: str) -> Undelivered:
    return Undelivered(f"internal error: {where}", then="drop")
