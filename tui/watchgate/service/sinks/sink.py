"""Sinks: each takes the records it wants, delivers them in its own task, counts what it loses.

- The queue in front of one sink, bounded in records and bytes, and the counts of what is lost.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

import anyio
import anyio.lowlevel
import msgspec

from watchgate.core.model.records import Record
from watchgate.service.sinks.delivery import Delivery, Undelivered
from watchgate.service.sinks.record_lines import Wrap
from watchgate.service.system.error_boundary import contain_errors


class SinkCounters(msgspec.Struct, frozen=True):
    """The numbers of records `sent`, `dropped` unsent and `failed`; `why` is the last reason.

    Sent means taken by the file, the server or the kernel: a reader may still lose it. What was on
    its way when the sink was stopped counts as dropped, and may have arrived.
    """

    sent: int = 0
    dropped: int = 0
    failed: int = 0
    why: str = ""

    @property
    def lost(self) -> int:
        """Returns the number of records that did not arrive."""
        return self.dropped + self.failed


class SinkTally:
    """Counts for one sink, and reports in words whenever there is news."""

    def __init__(self, name: str, mend: str) -> None:
        self._name = name
        self._mend = mend
        self.sent = 0
        self.dropped = 0
        self.failed = 0
        self.why = ""
        self._trouble = ""
        self._cause = ""
        self._unreported = 0
        self._reported_lost = 0
        self._reported_trouble = False

    @property
    def counters(self) -> SinkCounters:
        """Returns the counts as they are now."""
        return SinkCounters(self.sent, self.dropped, self.failed, self.why)

    def delivered(self, count: int) -> None:
        """Counts records that arrived."""
        self.sent += count
        self._trouble = ""

    def failing(self, why: str, *, quiet: bool = False) -> None:
        """Notes that delivery fails for now, and why; `quiet` where that is no trouble."""
        self.why = why
        if not quiet:
            self._trouble = self._cause = why

    def broken(self, fault: str) -> None:
        """Counts a record over which this program failed."""
        self.failed += 1
        self.failing(f"internal error: {fault}")

    def lose(self, count: int, why: str) -> None:
        """Counts dropped records, with the reason of the present failure or else with this one."""
        self.dropped += count
        if count:
            self.why = self._cause = self._trouble or why

    def lose_quietly(self, count: int) -> None:
        """Counts dropped records that nobody listens for: these are not reported."""
        self.dropped += count
        self._unreported += count

    def report(self, *, every: bool = False) -> str | None:
        """Returns the news for an operator since the last call; None when there is none.

        A sink is also offered the record of its own report, so losses are news when they have
        doubled, not each time; `every` tells all that was not told, for a core that ends.
        """
        lost = self.dropped + self.failed - self._unreported
        more = lost > self._reported_lost if every else lost >= max(1, 2 * self._reported_lost)
        changed = bool(self._trouble) != self._reported_trouble
        if not more and not changed:
            return None
        recovered = changed and not self._trouble
        self._reported_lost, self._reported_trouble = lost, bool(self._trouble)
        missed = "1 record" if lost == 1 else f"{lost:,} records" if lost else "nothing"
        if recovered:
            return f"{self._name} works again; it lost {missed} in all"
        return (
            f"{self._name} lost {missed} so far: {self._cause}. Agents are not affected and the "
            f"journal has every record; {self._mend}"
        )


LIMIT_BYTES = 32 * 1024 * 1024
FULL = "its reader is slower than the records come"
CLOSED = "it was closed before they were delivered"
TURN_BYTES = 64 * 1024
"""After so many bytes of writing, others get their turn."""


class SinkQueue:
    """Turns records into lines in a task of its own, so that whoever offers one never pays.

    No more than `limit` records wait, and no more than `limit_bytes` of lines.
    """

    def __init__(
        self, wrap: Wrap, tally: SinkTally, *, limit: int, limit_bytes: int = LIMIT_BYTES
    ) -> None:
        self._wrap = wrap
        self._tally = tally
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._records: deque[Record] = deque()
        self._lines: deque[bytes] = deque()
        self._size_bytes = 0
        self._offered = anyio.Event()
        self._packed = anyio.Event()
        self._ended = False

    def __len__(self) -> int:
        return len(self._records) + len(self._lines)

    def offer(self, record: Record) -> None:
        """Takes a record, dropping the oldest if there is no room; costs the same at any size."""
        if self._ended:
            self._tally.lose(1, CLOSED)
            return
        self._records.append(record)
        self._trim()
        self._offered.set()

    async def pack(self) -> None:
        """Turns records into lines, for as long as the sink runs."""
        while True:
            written_bytes = 0
            while self._records and written_bytes < TURN_BYTES:
                written_bytes += self._pack_one()
            if self._records:
                await anyio.lowlevel.checkpoint()
            elif self._ended:
                return
            else:
                self._offered = anyio.Event()
                await self._offered.wait()

    async def take(self, count: int, size_bytes: int) -> list[bytes]:
        """Returns the oldest lines, at least one and within both limits; none once it has ended."""
        while not self._lines:
            if self._ended and not self._records:
                return []
            self._packed = anyio.Event()
            await self._packed.wait()
        taken = [self._pop()]
        left_bytes = size_bytes - len(taken[0])
        while self._lines and len(taken) < count and len(self._lines[0]) <= left_bytes:
            taken.append(self._pop())
            left_bytes -= len(taken[-1])
        return taken

    def give_back(self, lines: list[bytes]) -> None:
        """Puts back what could not be delivered yet; as the oldest it is dropped first."""
        self._lines.extendleft(reversed(lines))
        self._size_bytes += sum(map(len, lines))
        self._trim()

    def clear(self) -> int:
        """Throws away everything that waits; returns how many records that were."""
        count = len(self)
        self._records.clear()
        self._lines.clear()
        self._size_bytes = 0
        return count

    def end(self) -> None:
        """Takes nothing more; what waits can still be taken."""
        self._ended = True
        self._offered.set()
        self._packed.set()

    def _pack_one(self) -> int:
        record, line = self._records.popleft(), b""
        with contain_errors(self._tally.broken):
            line = self._wrap(record)
        if not line:
            return 0
        self._lines.append(line)
        self._size_bytes += len(line)
        self._trim()
        self._packed.set()
        return len(line)

    def _pop(self) -> bytes:
        line = self._lines.popleft()
        self._size_bytes -= len(line)
        return line

    def _trim(self) -> None:
        while len(self) > self._limit or (self._size_bytes > self._limit_bytes and self._lines):
            if self._lines:
                self._pop()
            else:
                self._records.popleft()
            self._tally.lose(1, FULL)


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
        self._tally = SinkTally(name, delivery.mend)
        self._waiting = SinkQueue(wrap, self._tally, limit=queue, limit_bytes=limit_bytes)
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
        """Returns the news for an operator since the last call, see `SinkTally.report`."""
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
        with contain_errors(lambda where: failed.append(_internal(where))):
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
        """Waits until `run` has ended."""
        await self._over.wait()

    def close(self) -> None:
        """Takes nothing more; `run` ends within 2 s, when what waits is delivered."""
        for sink in self._sinks:
            sink.close()

    def reports(self, *, every: bool = False) -> list[str]:
        """Returns the news for an operator since the last call, one text for a sink."""
        return [text for sink in self._sinks if (text := sink.report(every=every))]
