"""Records to send, and deliveries and servers that a test watches or makes fail."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import msgspec
from anyio.abc import SocketStream

from tests.service.wire_frames import WAIT_S
from watchgate.core.model.records import Record
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.record_lines import as_record
from watchgate.service.sinks.sink import Sink

LARGE = 219_000
"""Bytes of a line that fill a socket's buffer when nobody reads it."""


def record(seq: int, kind: str = "tool.post", size: int = 0, **data: Any) -> Record:
    if size:
        data["result"] = "x" * size
    return Record(
        v=1, seq=seq, core="core-a", at=0, kind=kind, agent="claude", session="one", data=data
    )


def lines(count: int) -> list[bytes]:
    return [as_record(record(seq)) for seq in range(1, count + 1)]


def sent(each: Sink, count: int) -> Callable[[], bool]:
    """Whether so many records have been delivered."""
    return lambda: each.counters.sent == count


def lost(each: Sink, count: int) -> Callable[[], bool]:
    """Whether so many records have been lost."""
    return lambda: each.counters.lost == count


def got(delivery: Noted, count: int) -> Callable[[], bool]:
    """Whether so many entries have arrived."""
    return lambda: len(delivery.got) == count


def seqs(data: bytes) -> list[int]:
    """The numbers of the records in whole lines."""
    return [msgspec.json.decode(line, type=Record).seq for line in data.splitlines()]


class Noted:
    """A delivery that keeps what it is given, or fails as it is told to."""

    at_once = 2
    mend = "mend the test"

    def __init__(self, *faults: Undelivered | None) -> None:
        self.got: list[bytes] = []
        self.tries = 0
        self.closed = False
        self._faults = list(faults)

    async def send(self, entries: Sequence[bytes]) -> None:
        self.tries += 1
        fault = self._faults.pop(0) if self._faults else None
        if fault is not None:
            self.got += entries[: fault.sent]
            raise fault
        self.got += entries

    def close(self) -> None:
        self.closed = True

    @property
    def seqs(self) -> list[int]:
        return seqs(b"".join(self.got))


class Stuck(Noted):
    """A delivery that never ends."""

    async def send(self, entries: Sequence[bytes]) -> None:
        self.tries += 1
        await anyio.sleep_forever()


def sink(delivery: Any, *kinds: str, queue: int = 100, **more: Any) -> Sink:
    return Sink("[[sink]] 1 (test)", kinds or ("*",), as_record, delivery, queue=queue, **more)


@asynccontextmanager
async def running(*sinks: Any) -> AsyncIterator[None]:
    """Runs sinks; they are closed and waited for at the end."""
    with anyio.fail_after(WAIT_S):
        async with anyio.create_task_group() as tasks:
            for each in sinks:
                tasks.start_soon(each.run)
            yield
            for each in sinks:
                each.close()


class Answering:
    """An HTTP server on loopback that answers each request with the next status, then with 204."""

    def __init__(self, *statuses: int | None) -> None:
        self.url = ""
        self.requests: list[bytes] = []
        self._statuses = list(statuses)

    @property
    def bodies(self) -> list[bytes]:
        return [request.partition(b"\r\n\r\n")[2] for request in self.requests]

    async def handle(self, stream: SocketStream) -> None:
        async with stream:
            self.requests.append(await _request(stream))
            status = self._statuses.pop(0) if self._statuses else 204
            if status is None:
                # Silent until the client goes.
                with anyio.move_on_after(WAIT_S):
                    await _until_gone(stream)
                return
            head = f"HTTP/1.1 {status} Words\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
            await stream.send(head.encode())


@asynccontextmanager
async def answering(*statuses: int | None) -> AsyncIterator[Answering]:
    """An HTTP server for as long as the block runs; a status of None is no answer at all."""
    server = Answering(*statuses)
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(anyio.abc.SocketAttribute.local_port)
    server.url = f"http://127.0.0.1:{port}/in?key=k"
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, server.handle)
        yield server
        tasks.cancel_scope.cancel()


async def _request(stream: SocketStream) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        int(line.split(b":")[1])
        for line in head.split(b"\r\n")
        if line.lower().startswith(b"content-length")
    )
    while len(body) < length:
        body += await stream.receive()
    return head + b"\r\n\r\n" + body


async def _until_gone(stream: SocketStream) -> None:
    try:
        while True:
            await stream.receive()
    except (anyio.EndOfStream, anyio.BrokenResourceError):
        return
