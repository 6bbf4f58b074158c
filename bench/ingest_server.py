"""The servers that the ingest figures compare, each in its own process: ours, and two others."""
# ruff: noqa: ARG002 - a stand-in has the hub's signatures

from __future__ import annotations

import argparse
import asyncio
import json
import os
import select
import socket
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketListener

from watchgate.agents.base import HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.secrets.secret_finder import SecretsByText
from watchgate.service.admission.large_texts import Prepared
from watchgate.service.hub.hook_frames import HookFrame
from watchgate.service.hub.ingest import CHUNK_BYTES, Ingest
from watchgate.service.hub.interfaces import PendingReply, ReplyFactory
from watchgate.service.system.system_clock import SystemClock
from watchgate.service.wire.framing import FrameHead
from watchgate.service.wire.ingest_lines import Line, decode_chunk

BACKLOG = 1_024
_NOTHING = HookAnswer()


class Counter:
    """Counts events and, after the last, writes the CPU seconds since the first and ends."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._seen = 0
        self._start_s = time.process_time()

    def begin(self) -> None:
        """What was spent until now does not count."""
        if not self._seen:
            self._start_s = time.process_time()

    def add(self, count: int) -> bool:
        """Counts; true once all have come."""
        self._seen += count
        if self._seen < self._total:
            return False
        print(time.process_time() - self._start_s, flush=True)
        return True


class NoHub:
    """A hub that decodes what it is given and does nothing about it."""

    def __init__(self, counter: Counter, decode: Callable[[bytes], int], done: anyio.Event) -> None:
        self._counter = counter
        self._decode = decode
        self._done = done
        self.deciding = False

    def frame(self, head: FrameHead, payload: bytes, conn: PendingReply) -> None:
        self._add(1)
        if head.lane.waits:
            conn.say(_NOTHING, None)

    def received(self, head: FrameHead, payload: bytes, pid: int) -> HookFrame:
        return HookFrame(head, payload, pid, _CLOCK.now())

    def prepared(self, frame: HookFrame) -> HookFrame:
        return frame

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        return Prepared

    def ahead(self, prepared: Prepared) -> Callable[[], None]:
        return lambda: None

    def take(self, frame: HookFrame, conn: PendingReply) -> None:
        self.frame(frame.head, frame.payload, conn)

    def lines(
        self,
        chunk: bytes,
        source: Source,
        asker: ReplyFactory,
        secrets: SecretsByText | None = None,
    ) -> Iterator[None]:
        self._add(self._decode(chunk))
        return iter(())

    def source_gone(self, source: Source) -> None:
        pass

    def bad_frame(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        raise ValueError(why)

    def failed(self, fault: str, conn: PendingReply, head: FrameHead | None = None) -> None:
        raise ValueError(fault)

    def turned_away(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        raise ValueError(why)

    def delivered(self, conn: PendingReply, *, ok: bool) -> None:
        pass

    def hung_up(self, conn: PendingReply) -> None:
        pass

    def oversized_line(self, size_bytes: int, pid: int) -> None:
        raise ValueError(f"a line of {size_bytes} bytes")

    def _add(self, count: int) -> None:
        self._counter.begin()
        if self._counter.add(count):
            self._done.set()


def typed(chunk: bytes) -> int:
    """Lines of our form as typed values, as far as a raw loop goes."""
    return len(_decode_lines(chunk))


def events(chunk: bytes) -> int:
    """Lines of our form as canonical events: tool, input digest and all."""
    return len(decode_chunk(chunk, _CLOCK.now(), _SOURCE))


def raw(listener: socket.socket, counter: Counter) -> None:
    """As little as a server in Python can do: epoll, recv, and a typed decode of each line."""
    decode = msgspec.json.Decoder(Line).decode
    epoll = select.epoll()
    epoll.register(listener, select.EPOLLIN)
    open_by_number: dict[int, tuple[socket.socket, bytes]] = {}
    while True:
        for number, _ in epoll.poll():
            if number == listener.fileno():
                connection, _ = listener.accept()
                epoll.register(connection, select.EPOLLIN)
                open_by_number[connection.fileno()] = connection, b""
                continue
            connection, pending = open_by_number[number]
            data = connection.recv(CHUNK_BYTES)
            if not data:
                epoll.unregister(number)
                connection.close()
                continue
            counter.begin()
            *whole, pending = (pending + data).split(b"\n")
            for line in whole:
                decode(line)
            open_by_number[number] = connection, pending
            if counter.add(len(whole)):
                return


async def streams(listener: socket.socket, counter: Counter) -> None:
    """A server as one writes it first: asyncio's streams, a line at a time, and json."""
    done = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := await reader.readline():
            counter.begin()
            json.loads(line)
            if counter.add(1):
                done.set()
        writer.close()

    async with await asyncio.start_unix_server(serve, sock=listener, limit=1 << 20):
        await done.wait()
        os._exit(0)  # its connections are still open, and asyncio would say so for each


async def ours(bound: socket.socket, counter: Counter, decode: Callable[[bytes], int]) -> None:
    """Our own listener, as a core has it."""
    done = anyio.Event()
    hub = NoHub(counter, decode, done)
    async with await SocketListener.from_socket(bound) as listener, anyio.create_task_group() as t:
        t.start_soon(listener.serve, Ingest(hub).handle)
        await done.wait()
        t.cancel_scope.cancel()


_CLOCK = SystemClock()
_SOURCE = Source("bench")
_decode_lines = msgspec.json.Decoder(Line).decode_lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=["raw", "streams", "typed", "events"])
    parser.add_argument("path", type=Path)
    parser.add_argument("total", type=int)
    given = parser.parse_args()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(given.path))
        listener.listen(BACKLOG)
        counter = Counter(given.total)
        if given.kind == "raw":
            raw(listener, counter)
        elif given.kind == "streams":
            asyncio.run(streams(listener, counter))
        else:
            listener.setblocking(False)
            decode = typed if given.kind == "typed" else events
            anyio.run(ours, listener, counter, decode)
    return 0


if __name__ == "__main__":
    sys.exit(main())
