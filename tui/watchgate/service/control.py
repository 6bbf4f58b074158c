"""The control socket: consoles and scripts look, attach and decide.

One task reads requests, one writes; what reads the journal runs beside them, so that no decision
waits for it. A request that this program fails over is refused, and the connection goes on.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import suppress

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream, TaskGroup

from watchgate.core import decoding
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.link.protocol import Hello, Push, Refusal, Request
from watchgate.link.receiving import receive
from watchgate.service.accepting import peer_of
from watchgate.service.admission.descriptors import CONTROL_CONNECTIONS, CONTROL_SHARE, Limits
from watchgate.service.admission.door import FIRST_BYTE_S, SLOW_FIRST, Door
from watchgate.service.admission.unfinished import Unfinished
from watchgate.service.boundary import contained
from watchgate.service.framing import MAX_PAYLOAD_BYTES
from watchgate.service.identity.chains import chain_of
from watchgate.service.outbox import Outbox
from watchgate.service.splitter import Splitter
from watchgate.service.verbs.caller import Caller
from watchgate.service.verbs.table import Verbs
from watchgate.service.writing import GOODBYE_S, write

CHUNK_BYTES = 64 * 1024
READS_JOURNAL = ("search", "history")
GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)
BESIDE = 8
"""Requests of one connection that may read the journal or wait for that."""

_decoder = decoding.decoder(Request)


class Control:
    """Serves one control socket."""

    def __init__(
        self, verbs: Verbs, asker_of: Callable[[int], Hashable] = lambda _pid: None
    ) -> None:
        self._verbs = verbs
        self._door = Door(Limits(CONTROL_CONNECTIONS, CONTROL_SHARE), asker_of)
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
                contained(lambda fault: self._verbs.failed(fault, caller)),
                self._door.connections.taken(peer.pid) as full,
            ):
                if full:
                    await _close(stream, self._verbs.hello(), self._door.refusal(full))
                else:
                    await self._serve(stream, caller)

    async def _serve(self, stream: SocketStream, caller: Caller) -> None:
        caller.outbox.put(_line(self._verbs.hello()))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(write, stream, caller.outbox)
            try:
                await self._read(stream, caller, tasks)
            finally:
                self._verbs.gone(caller)
            tasks.cancel_scope.cancel()

    async def _read(self, stream: SocketStream, caller: Caller, tasks: TaskGroup) -> None:
        splitter = Splitter(MAX_PAYLOAD_BYTES)
        readers = anyio.Semaphore(BESIDE)

        async def aside(request: Request) -> None:
            try:
                await self._do(request, caller)
            finally:
                readers.release()

        with Unfinished(splitter, self._door.unfinished, caller.pid) as unfinished:
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

        with contained(refuse):
            caller.outbox.put(_line(await self._verbs.do(request, caller)))


async def _chunks(stream: SocketStream, unfinished: Unfinished) -> AsyncIterator[bytes]:
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
