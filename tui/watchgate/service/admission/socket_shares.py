"""The admission to one socket: lets connections in, and gives the others the reason.

Accepting connections, also through a shortage of descriptors, and reading a peer's identity.

- A scarce amount, handed out to processes: so much in all, and so much to one that asks. The line
  that a stream has begun and not ended: the limits of its size and its time.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from types import TracebackType
from typing import Any, Literal, Self

import anyio
from anyio.abc import SocketListener, SocketStream

from watchgate.service.identity.ancestry import Peer, credentials
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.system.process_limits import ConnectionLimits

PAUSE_S = 0.1


async def accept_connections(
    listener: SocketListener,
    handle: Callable[[SocketStream], Coroutine[Any, Any, None]],
    troubled: Callable[[str], None],
) -> None:
    """Starts a task of `handle` for every connection, until the listener is closed.

    Calls `troubled` once when no connection can be accepted; those that wait are accepted later.
    """
    async with anyio.create_task_group() as tasks:
        reported = False
        while True:
            try:
                stream = await listener.accept()
            except anyio.ClosedResourceError:
                return
            except anyio.BrokenResourceError as fault:
                if not reported:
                    troubled(str(fault.__cause__ or fault))
                reported = True
                await anyio.sleep(PAUSE_S)
            else:
                reported = False
                tasks.start_soon(handle, stream)


def peer_of(connection: socket.socket) -> Peer | None:
    """Returns the process that connected; None when the kernel cannot name it."""
    try:
        return credentials(connection)
    except OSError:
        return None


Full = Literal["", "share", "most"]


class Shares:
    """Amounts by the process that holds them, and together by the agent above that process.

    `asker_of` names that agent for a pid. It is asked only once everybody together holds more than
    `share`: before, nobody can.
    """

    def __init__(self, limit: int, share: int, asker_of: Callable[[int], Hashable]) -> None:
        self.limit = limit
        self.share = share
        self.total = 0
        self._asker_of = asker_of
        self._held: dict[int, int] = {}
        self._askers: dict[int, Hashable] = {}
        self._freed: anyio.Event | None = None

    def take(self, pid: int, amount: int) -> Full:
        """Hands out so much, or returns the limit that is in the way."""
        if self.total + amount > self.limit:
            return "most"
        if self.total + amount > self.share and self._of_asker(pid) + amount > self.share:
            if pid not in self._held:
                del self._askers[pid]
            return "share"
        self.total += amount
        self._held[pid] = self._held.get(pid, 0) + amount
        return ""

    def give_back(self, pid: int, amount: int) -> None:
        """Takes back so much of what was handed out."""
        if not amount:
            return
        self.total -= amount
        self._held[pid] -= amount
        if not self._held[pid]:
            del self._held[pid]
            # The number may become another process's.
            self._askers.pop(pid, None)
        if self._freed is not None:
            self._freed.set()
            self._freed = None

    @contextmanager
    def taken(self, pid: int, amount: int = 1) -> Iterator[Full]:
        """Holds so much for the block, or nothing where a limit is in the way."""
        full = self.take(pid, amount)
        try:
            yield full
        finally:
            if not full:
                self.give_back(pid, amount)

    @asynccontextmanager
    async def room(self, pid: int, amount: int) -> AsyncIterator[None]:
        """Holds so much for the block, once there is room; more than a share waits for ever."""
        while self.take(pid, amount):
            if self._freed is None:
                self._freed = anyio.Event()
            await self._freed.wait()
        try:
            yield
        finally:
            self.give_back(pid, amount)

    def holders(self) -> list[int]:
        """Returns the pids that hold any of it."""
        return [*self._held]

    def _of_asker(self, pid: int) -> int:
        asker = self._asker(pid)
        return sum(held for other, held in self._held.items() if self._asker(other) == asker)

    def _asker(self, pid: int) -> Hashable:
        if pid not in self._askers:
            self._askers[pid] = self._asker_of(pid)
        return self._askers[pid]


FIRST_BYTE_S = 10.0
"""So long a connection may say nothing at all."""

LAST_BYTE_S = 30.0
"""So long a frame, or a long line, may take from its first byte to its last."""

UNFINISHED_BYTES = 64 * 1024 * 1024
UNFINISHED_SHARE = 16 * 1024 * 1024
"""Of payloads that have begun and not ended, all together and from one asking process."""

AskerOf = Callable[[int], Hashable]


class SocketAdmission:
    """One socket's connections and the unfinished bytes that come over them, both by process."""

    def __init__(self, limits: ConnectionLimits, asker_of: AskerOf) -> None:
        self.connections = Shares(limits.total, limits.share, asker_of)
        self.unfinished = Shares(UNFINISHED_BYTES, UNFINISHED_SHARE, asker_of)

    def refusal(self, full: Full) -> str:
        """Returns the reason a connection is not accepted, with the mend."""
        if full == "share":
            return (
                f"the process that asks has {self.connections.share:,} connections open already, "
                "and one may have no more: end what opens them"
            )
        return (
            f"{self.connections.total:,} connections are open, which is all that the core takes: "
            "end what opens them, or raise the limit on open files (`ulimit -n`)"
        )


SLOW_FIRST = f"nothing came within {FIRST_BYTE_S:g} s of connecting"
SLOW_LAST = f"the frame was not whole within {LAST_BYTE_S:g} s"
NO_ROOM = (
    f"for {LAST_BYTE_S:g} s there was no room for so long a payload: unfinished ones may hold "
    f"{UNFINISHED_SHARE // 1_048_576} MiB of one asking process and "
    f"{UNFINISHED_BYTES // 1_048_576} MiB in all, end what leaves them unfinished"
)


PATIENT_BYTES = 64 * 1024
"""A shorter line may wait: a program that writes in blocks leaves half a one behind."""


class UnfinishedLine:
    """The unfinished bytes of a connection, counted for the process that sends them.

    A line for which there is no room is dropped whole, as one that is too long. `until_s` is the
    time of that for the present one, by the event loop's clock.
    """

    def __init__(self, splitter: LineSplitter, shares: Shares, pid: int) -> None:
        self.until_s = float("inf")
        self._splitter = splitter
        self._shares = shares
        self._pid = pid
        self._held_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        self._release()

    def changed(self, *, ended: bool) -> None:
        """Counts the unfinished bytes; `ended` says that a line did."""
        size_bytes = self._splitter.unfinished_bytes
        if size_bytes == self._held_bytes == 0:
            return
        self._release()
        if self._shares.take(self._pid, size_bytes):
            self.drop()
            return
        self._held_bytes = size_bytes
        if size_bytes <= PATIENT_BYTES:
            self.until_s = float("inf")
        elif ended or self.until_s == float("inf"):
            self.until_s = anyio.current_time() + LAST_BYTE_S

    def drop(self) -> None:
        """Keeps no more of this line."""
        self._release()
        self._splitter.drop()
        self.until_s = float("inf")

    def _release(self) -> None:
        self._shares.give_back(self._pid, self._held_bytes)
        self._held_bytes = 0
