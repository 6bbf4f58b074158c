"""The ingest socket: hook frames and JSON lines become events for the hub.

A connection's first byte chooses its form. The reader never waits for a decision: a frame is given
to the hub as soon as it is whole, and the connection's own task then waits for the answer or for
the client to hang up.
"""

from __future__ import annotations

import math
import os
import select
import socket
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial

import anyio
import anyio.lowlevel
from anyio.abc import SocketAttribute, SocketStream
from anyio.streams.memory import MemoryObjectReceiveStream

from watchgate.agents.streams.stream_source import Source
from watchgate.core.secrets.secret_finder import SecretsByText
from watchgate.link.receiving import readable, receive, receive_now
from watchgate.service.admission.large_texts import (
    LARGE_ASKED_BYTES,
    LARGE_BYTES,
    LargeFrames,
    has_large_line,
)
from watchgate.service.admission.socket_shares import (
    FIRST_BYTE_S,
    LAST_BYTE_S,
    NO_ROOM,
    SLOW_FIRST,
    SLOW_LAST,
    AskerOf,
    SocketAdmission,
    UnfinishedLine,
    peer_of,
)
from watchgate.service.hub.interfaces import IngestHub, PendingReply, ReplyFactory
from watchgate.service.hub.loop_budget import LoopBudget
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.system.process_limits import ingest_limits
from watchgate.service.wire.framing import (
    MAX_HEADER_BYTES,
    MAX_PAYLOAD_BYTES,
    FrameHead,
    HookFrameError,
    answer_bytes,
    parse_head,
)
from watchgate.service.wire.line_sources import LineConnection, LineSources

CHUNK_BYTES = 64 * 1024
HEADER_LIMIT_S = 10.0
LOOK_S = 0.5
TURN_AWAY_S = 1.0
TURNED_AWAY_AT_ONCE = 64
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Ingest:
    """Serves one ingest socket."""

    def __init__(
        self,
        hub: IngestHub,
        sources: LineSources | None = None,
        asker_of: AskerOf = lambda _pid: None,
    ) -> None:
        self._hub = hub
        self._door = SocketAdmission(ingest_limits(), asker_of)
        self._large = LargeFrames(asker_of)
        self._turning_away = 0
        self._sources = sources or LineSources()
        self._count = 0
        self._may_ask: dict[int, float] = {}
        self._turns = LoopBudget(lambda: hub.deciding)

    def clients(self) -> list[int]:
        """Returns the pids that are connected."""
        return self._door.connections.holders()

    @property
    def may_ask(self) -> bool:
        """Returns whether a connection is a hook's, or may become one or still send its first line.

        Later lines of a stream do not count: it goes on as long as its program.
        """
        now_s = anyio.current_time()
        return any(until_s > now_s for until_s in self._may_ask.values())

    async def handle(self, stream: SocketStream) -> None:
        """Serves one connection to its end; a foreign uid gets nothing (AP-20)."""
        async with stream:
            connection = stream.extra(SocketAttribute.raw_socket)
            peer = peer_of(connection)
            if peer is None or peer.uid != os.getuid():
                return
            self._count += 1
            conn = PendingReply(self._count, peer.pid)
            with (
                self._asking(conn),
                contain_errors(lambda fault: self._hub.failed(fault, conn)),
                suppress(*_GONE),
                self._door.connections.taken(peer.pid) as full,
            ):
                if full:
                    await self._turn_away(stream, self._door.refusal(full), conn)
                    return
                first = await _first(connection)
                if first is None:
                    self._hub.turned_away(None, SLOW_FIRST, conn)
                    await self._tell(stream, conn)
                elif first.startswith(b"{"):
                    self._may_ask[conn.number] = anyio.current_time() + LAST_BYTE_S
                    await self._lines(stream, first, conn)
                else:
                    await self._frame(stream, first, conn)

    @contextmanager
    def _asking(self, conn: PendingReply) -> Iterator[None]:
        self._may_ask[conn.number] = math.inf
        try:
            yield
        finally:
            self._may_ask.pop(conn.number, None)

    async def _turn_away(self, stream: SocketStream, why: str, conn: PendingReply) -> None:
        """Answers closed for want of room, in the agent's format if the header comes at once."""
        head: FrameHead | None = None
        if self._turning_away < TURNED_AWAY_AT_ONCE:
            self._turning_away += 1
            try:
                with suppress(HookFrameError, TimeoutError), anyio.fail_after(TURN_AWAY_S):
                    buffer = await receive(stream, CHUNK_BYTES)
                    head = parse_head((await _header(stream, buffer)).partition(b"\n\n")[0])
            finally:
                self._turning_away -= 1
        self._hub.turned_away(head, why, conn)
        if conn.answer is not None:
            await self._tell(stream, conn)

    async def _frame(self, stream: SocketStream, buffer: bytes, conn: PendingReply) -> None:
        head = await self._take_frame(stream, buffer, conn)
        if head is None or head.lane.waits:
            await self._reply(stream, conn)

    async def _take_frame(
        self, stream: SocketStream, buffer: bytes, conn: PendingReply
    ) -> FrameHead | None:
        """Gives the hub the frame, and keeps nothing of it while its answer is waited for."""
        head: FrameHead | None = None
        payload, why = b"", ""
        try:
            if b"\n\n" not in buffer:
                buffer = await _header(stream, buffer)
            raw, _, rest = buffer.partition(b"\n\n")
            head = parse_head(raw)
            payload = await self._payload(stream, head, rest, conn.pid)
        except HookFrameError as fault:
            why = str(fault)
        except TimeoutError:
            why = "the header did not come in time"
        except anyio.EndOfStream:
            why = "the frame ended before its length"
        with contain_errors(lambda fault: self._hub.failed(fault, conn, head)):
            if head is None or why:
                self._hub.bad_frame(head, why, conn)
            else:
                await self._take(head, payload, conn)
        return head

    async def _take(self, head: FrameHead, payload: bytes, conn: PendingReply) -> None:
        """Gives the hub a frame; a large one is read in a thread, and its asker's next wait."""
        hub = self._hub
        large = len(payload) > (LARGE_ASKED_BYTES if head.lane.waits else LARGE_BYTES)
        frame = hub.received(head, payload, conn.pid) if large else None
        async with self._large.turn(conn.pid, large=large):
            if frame is None:
                hub.frame(head, payload, conn)
            else:
                frame = await self._large.read(partial(hub.prepared, frame))
                if frame.prepared is not None:
                    await self._large.read(hub.ahead(frame.prepared))
                hub.take(frame, conn)

    async def _payload(self, stream: SocketStream, head: FrameHead, rest: bytes, pid: int) -> bytes:
        if head.dropped or head.length > MAX_PAYLOAD_BYTES:
            size = head.dropped or head.length
            raise HookFrameError(f"a payload of {size} bytes; {MAX_PAYLOAD_BYTES} are taken")
        if len(rest) >= head.length:
            return rest[: head.length]
        why = NO_ROOM
        with anyio.move_on_after(LAST_BYTE_S):
            # Room for all of it: of several that had room for a part, none could be finished.
            async with self._door.unfinished.room(pid, head.length):
                why = SLOW_LAST
                payload = bytearray(rest)
                while len(payload) < head.length:
                    payload += await receive(stream, CHUNK_BYTES)
                return bytes(memoryview(payload)[: head.length])
        raise HookFrameError(why)

    async def _reply(self, stream: SocketStream, conn: PendingReply) -> None:
        if conn.answer is not None:
            await self._tell(stream, conn)
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._watch, stream, conn, tasks.cancel_scope)
            await conn.wait()
            # Told before the watch has ended, which takes some turns of a loop that may be busy.
            await self._tell(stream, conn)
            tasks.cancel_scope.cancel()

    async def _tell(self, stream: SocketStream, conn: PendingReply) -> None:
        if conn.answer is None:
            return
        try:
            await stream.send(answer_bytes(conn.answer))
        except _GONE:
            self._hub.delivered(conn, ok=False)
        else:
            self._hub.delivered(conn, ok=True)

    async def _watch(
        self, stream: SocketStream, conn: PendingReply, scope: anyio.CancelScope
    ) -> None:
        try:
            while True:
                await receive(stream, CHUNK_BYTES)
        except _GONE:
            if conn.answer is None:
                self._hub.hung_up(conn)
                scope.cancel()

    async def _lines(self, stream: SocketStream, first: bytes, own: PendingReply) -> None:
        """Serves a stream of lines; after a half-close its requests are still answered."""
        pid = own.pid
        send, answered = anyio.create_memory_object_stream[PendingReply](float("inf"))
        open_asks: dict[int, PendingReply] = {}
        replying = False

        def asker() -> PendingReply:
            nonlocal replying
            if not replying:  # most streams ask nothing
                replying = True
                tasks.start_soon(self._line_replies, stream, answered.clone(), open_asks)
            self._count += 1
            conn = open_asks[self._count] = PendingReply(self._count, pid, send.send_nowait)
            return conn

        async with anyio.create_task_group() as tasks:
            with send, answered:
                try:
                    with self._sources.connected(pid, self._hub.source_gone) as link:
                        await self._read_lines(stream, first, link, asker, own)
                    await _answered(open_asks, stream)
                except _GONE:
                    for conn in [each for each in open_asks.values() if each.answer is None]:
                        self._hub.hung_up(conn)

    async def _read_lines(
        self,
        stream: SocketStream,
        first: bytes,
        link: LineConnection,
        asker: ReplyFactory,
        own: PendingReply,
    ) -> None:
        """Reads the lines of a stream until its end, in slices of the loop's time.

        Args:
            stream: The connection.
            first: Its first bytes.
            link: Its source.
            asker: Makes the pending reply of a request.
            own: The connection's own number and pid.
        """
        connection = stream.extra(SocketAttribute.raw_socket)
        splitter = LineSplitter(MAX_PAYLOAD_BYTES)
        unfinished = UnfinishedLine(splitter, self._door.unfinished, link.source.pid)

        began = False

        def lines(data: bytes) -> bytes:
            nonlocal began
            whole, dropped = splitter.feed(data)
            began = began or bool(whole or dropped)
            unfinished.changed(ended=bool(whole))
            if dropped:
                self._hub.oversized_line(dropped, link.source.pid)
            link.count(whole)
            return whole

        def more() -> bytes | None:
            data = receive_now(connection, CHUNK_BYTES)
            return None if data is None else lines(data)

        def take(piece: bytes, secrets: SecretsByText) -> Iterator[None]:
            return self._hub.lines(piece, link.source, asker, secrets)

        def look(piece: bytes) -> Awaitable[SecretsByText] | None:
            return self._look_through(piece, link.source) if has_large_line(piece) else None

        async def taken(read: Callable[[], bytes | None]) -> bool:
            there = await self._turns.take(read, take, look)
            if began:  # who waits for an answer to it is known by now
                self._may_ask.pop(own.number, None)
            return there

        with unfinished, suppress(anyio.EndOfStream):
            await taken(lambda: lines(first))
            while True:
                await anyio.lowlevel.checkpoint()
                if not await taken(more):
                    with anyio.CancelScope(deadline=unfinished.until_s) as late:
                        await readable(connection)
                    if late.cancelled_caught:
                        unfinished.drop()
        if rest := splitter.rest():
            link.count(b"\n")
            await self._turns.take(lambda: rest, take, look)

    async def _look_through(self, piece: bytes, source: Source) -> SecretsByText:
        """Returns the secrets of large lines, whose calls are judged as well, in a thread."""
        async with self._large.turn(source.pid, large=True):
            prepared = await self._large.read(self._hub.lines_prepared(piece, source))
            await self._large.read(self._hub.ahead(prepared))
            return prepared.secrets

    async def _line_replies(
        self,
        stream: SocketStream,
        answered: MemoryObjectReceiveStream[PendingReply],
        open_asks: dict[int, PendingReply],
    ) -> None:
        async with answered:
            async for conn in answered:
                try:
                    await stream.send(conn.answer.stdout if conn.answer else b"")
                except _GONE:
                    self._hub.delivered(conn, ok=False)
                else:
                    self._hub.delivered(conn, ok=True)
                open_asks.pop(conn.number, None)


async def _answered(open_asks: dict[int, PendingReply], stream: SocketStream) -> None:
    """Waits until every request has an answer; raises like a read if the client is gone."""
    connection = stream.extra(SocketAttribute.raw_socket)
    for conn in list(open_asks.values()):
        while conn.answer is None:
            with anyio.move_on_after(LOOK_S):
                await conn.wait()
            if _is_gone(connection):
                raise anyio.BrokenResourceError


def _is_gone(connection: socket.socket) -> bool:
    """Returns whether the client closed its socket; only Linux can tell that from a half-close."""
    if sys.platform != "linux":
        return False
    look = select.poll()
    look.register(connection, 0)
    return any(events & select.POLLHUP for _, events in look.poll(0))


async def _header(stream: SocketStream, buffer: bytes) -> bytes:
    """Returns the bytes up to the header's end at least; most come whole and need no timer."""
    with anyio.fail_after(HEADER_LIMIT_S):
        while b"\n\n" not in buffer:
            if len(buffer) > MAX_HEADER_BYTES:
                raise HookFrameError(f"a header of over {MAX_HEADER_BYTES} bytes")
            buffer += await receive(stream, CHUNK_BYTES)
    return buffer


async def _first(connection: socket.socket) -> bytes | None:
    """Returns the first bytes, None where none come in time; most are there at once."""
    await anyio.lowlevel.checkpoint()
    first = receive_now(connection, CHUNK_BYTES)
    with anyio.move_on_after(FIRST_BYTE_S):
        while first is None:
            await readable(connection)
            first = receive_now(connection, CHUNK_BYTES)
    return first
