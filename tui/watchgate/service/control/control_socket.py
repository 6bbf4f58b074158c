"""The control socket: consoles and scripts look, attach and decide.

One task reads requests, one writes; what reads the journal runs beside them, so that no decision
waits for it. A request that this program fails over is refused, and the connection goes on.

- Sending queued lines to one control client, for as long as it reads. A client that takes nothing
  for 5 s while there is something to send is closed with the reason; one that reads slowly but
  steadily is not.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import suppress

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.link.protocol import Hello, Push, Refusal, Request
from watchgate.link.receiving import receive
from watchgate.service.admission.socket_shares import (
    FIRST_BYTE_S,
    SLOW_FIRST,
    SocketAdmission,
    UnfinishedLine,
    peer_of,
)
from watchgate.service.control.caller import Caller, Outbox
from watchgate.service.control.verb_table import Verbs
from watchgate.service.identity.ancestry import chain_of
from watchgate.service.system.error_boundary import contain_errors
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.system.process_limits import (
    CONTROL_CONNECTIONS,
    CONTROL_SHARE,
    ConnectionLimits,
)
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

BLOCKED_S = 5.0
GOODBYE_S = 0.5


async def send_queue(stream: SocketStream, outbox: Outbox, *, blocked_s: float = BLOCKED_S) -> None:
    """Sends until the client is gone or blocked; its reader then finds the end of the stream."""
    connection = stream.extra(SocketAttribute.raw_socket)
    with suppress(OSError):
        while True:
            left = await _send(connection, await outbox.take(), blocked_s)
            if left:
                # The line that was cut must be whole before another can be read.
                end = bytes(left[: bytes(left).find(b"\n") + 1])
                closed = Push(closed=f"read nothing for {blocked_s:g} s")
                await _send(connection, end + msgspec.json.encode(closed) + b"\n", GOODBYE_S)
                break
    outbox.end()
    # Ending the stream for the reader, and not its task, lets it close in order.
    with suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


async def _send(connection: socket.socket, data: bytes, blocked_s: float) -> memoryview:
    """Sends the data; returns the part that could not be sent within `blocked_s`."""
    left = memoryview(data)
    while left:
        try:
            left = left[connection.send(left) :]
        except BlockingIOError:
            with anyio.move_on_after(blocked_s) as limit:
                await anyio.wait_writable(connection)
            if limit.cancelled_caught:
                return left
    return left


CHUNK_BYTES = 64 * 1024
READS_JOURNAL = ("search", "history")
GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
JOURNAL_READERS = 8
"""Requests of one connection that may read the journal or wait for that."""

_decoder = decoding.decoder(Request)


class Control:
    """Serves one control socket."""

    def __init__(
        self, verbs: Verbs, asker_of: Callable[[int], Hashable] = lambda _pid: None
    ) -> None:
        self._verbs = verbs
        self._door = SocketAdmission(ConnectionLimits(CONTROL_CONNECTIONS, CONTROL_SHARE), asker_of)
        self._count = 0

    def clients(self) -> list[int]:
        """Returns the pids that are connected."""
        return self._door.connections.holders()

    async def handle(self, stream: SocketStream) -> None:
        """Serves one client, from its hello to its end; a foreign uid gets nothing."""
        async with stream:
            peer = peer_of(stream.extra(SocketAttribute.raw_socket))
            if peer is None or peer.uid != os.getuid():
                return
            self._count += 1
            caller = Caller(
                number=self._count,
                pid=peer.pid,
                chain=chain_of(peer.pid),
                outbox=Outbox(),
                presences=self._verbs.presences,
            )
            with (
                contain_errors(lambda fault: self._verbs.failed(fault, caller)),
                self._door.connections.taken(peer.pid) as full,
            ):
                if full:
                    await _close(stream, self._verbs.hello(), self._door.refusal(full))
                else:
                    await self._serve(stream, caller)

    async def _serve(self, stream: SocketStream, caller: Caller) -> None:
        caller.outbox.put(_line(self._verbs.hello()))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(send_queue, stream, caller.outbox)
            try:
                await self._read(stream, caller, tasks)
            finally:
                self._verbs.gone(caller)
            tasks.cancel_scope.cancel()

    async def _read(self, stream: SocketStream, caller: Caller, tasks: TaskGroup) -> None:
        splitter = LineSplitter(MAX_PAYLOAD_BYTES)
        readers = anyio.Semaphore(JOURNAL_READERS)

        async def aside(request: Request) -> None:
            try:
                await self._do(request, caller)
            finally:
                readers.release()

        with UnfinishedLine(splitter, self._door.unfinished, caller.pid) as unfinished:
            async for data in _chunks(stream, unfinished):
                lines, dropped = splitter.feed(data)
                unfinished.changed(ended=bool(lines))
                if dropped:
                    why = f"a request of {dropped} bytes; {MAX_PAYLOAD_BYTES} are taken"
                    caller.outbox.put(_line(_bad(0, why)))
                for line in lines.splitlines():
                    # Whoever asks without reading the answers waits for room like everybody else.
                    if not await caller.outbox.room():
                        return
                    request = _request(line, caller.outbox) if line.strip() else None
                    if request is not None and request.verb in READS_JOURNAL:
                        await readers.acquire()
                        tasks.start_soon(aside, request)
                    elif request is not None:
                        await self._do(request, caller)

    async def _do(self, request: Request, caller: Caller) -> None:
        def refuse(fault: str) -> None:
            message = f"an internal error ({fault}): whether anything was done is not certain"
            refusal = Refusal(id=request.id, refused="failed", message=message)
            caller.outbox.put(_line(refusal))
            self._verbs.failed(fault, caller)

        with contain_errors(refuse):
            caller.outbox.put(_line(await self._verbs.do(request, caller)))


async def _chunks(stream: SocketStream, unfinished: UnfinishedLine) -> AsyncIterator[bytes]:
    """Yields bytes until the end.

    A client that never begins is closed with the reason; a line that never ends is dropped.
    """
    begins_until_s = anyio.current_time() + FIRST_BYTE_S
    while True:
        data = None
        with anyio.CancelScope(deadline=min(begins_until_s, unfinished.until_s)) as late:
            with suppress(*GONE):
                data = await receive(stream, CHUNK_BYTES)
        if data is not None:
            begins_until_s = float("inf")
            yield data
        elif not late.cancelled_caught:
            return
        elif begins_until_s < float("inf"):
            await _close(stream, None, SLOW_FIRST)
            return
        else:
            unfinished.drop()


async def _close(stream: SocketStream, hello: Hello | None, why: str) -> None:
    """Tells a client why it is disconnected."""
    with suppress(*GONE), anyio.move_on_after(GOODBYE_S):
        await stream.send((_line(hello) if hello else b"") + _line(Push(closed=why)))


def _request(line: bytes, outbox: Outbox) -> Request | None:
    """Returns the request, or None and an answer to the caller where the line is none."""
    try:
        return _decoder.decode(line)
    except JSON_FAULTS as fault:
        refusal = _bad(_id_of(line), f"{fault}; see watchgate schema control")
        outbox.put(_line(refusal))
        return None


def _line(value: msgspec.Struct) -> bytes:
    return msgspec.json.encode(value) + b"\n"


def _bad(request_id: int, message: str) -> Refusal:
    return Refusal(id=request_id, refused="bad_request", message=message)


def _id_of(line: bytes) -> int:
    """Returns the id of a request that is otherwise wrong, so that its sender gets an answer."""
    try:
        return decoding.decode(line, _OnlyId).id
    except JSON_FAULTS:
        return 0


class _OnlyId(msgspec.Struct):
    id: int = 0
