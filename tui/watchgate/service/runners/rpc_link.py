"""JSON-RPC over a pair of pipes: requests with their answers, many under way at once.

A request is written at once and its answer resolves a future in the very callback that read it:
one turn of the event loop for each reply.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

import msgspec

from watchgate.core.dispatch.extensions import extension_rpc
from watchgate.core.dispatch.extensions.extension_frames import (
    ExtensionFrameError,
    FrameReader,
    encode_frame,
)
from watchgate.core.dispatch.extensions.extension_rpc import (
    CROWDED,
    PeerRequest,
    PeerResponse,
    RpcError,
    RpcRefusal,
)
from watchgate.core.model.verdicts import FailureCause

IN_FLIGHT_LIMIT = 256
WAITING_LIMIT_BYTES = 8 * 1024 * 1024
_READ_BYTES = 262_144
_LAST_READS = 32
ASKS_A_SECOND = 25


class Loss(msgspec.Struct, frozen=True):
    """The way a link was lost; `closed` when all that is known is that the other side hung up.

    `last_words` is the end of what it wrote to its standard error.
    """

    cause: FailureCause
    detail: str
    closed: bool = False
    last_words: str = ""


class LinkLost(Exception):
    """The other side is gone or cannot be understood: a failure of the transport."""

    def __init__(self, loss: Loss) -> None:
        super().__init__(loss.detail)
        self.loss = loss


class Crowded(Exception):
    """Too much is under way already; the other side does not keep up."""


class RpcLink:
    """One conversation; `lost` is done when it is over, with the reason."""

    def __init__(self, reads_fd: int, writes_fd: int, asked: Callable[[str, Any], Any]) -> None:
        self._loop = asyncio.get_running_loop()
        self.lost: asyncio.Future[Loss] = self._loop.create_future()
        self._reads_fd = reads_fd
        self._writes_fd = writes_fd
        self._asked = asked
        self._frames = FrameReader()
        self._waiting = bytearray()
        self._pending: dict[int, asyncio.Future[PeerResponse]] = {}
        self._last_id = 0
        self._asks, self._asks_since_s = 0, 0.0
        self._loop.add_reader(reads_fd, self.read)

    @property
    def in_flight(self) -> int:
        """Returns the number of requests without an answer yet."""
        return len(self._pending)

    async def ask(self, method: str, params: Any, until_s: float) -> PeerResponse:
        """Sends a request and waits for its answer, until a time of the event loop's clock.

        Giving up forgets the request. Raises `LinkLost`, `TimeoutError`, and whatever `send` does.
        """
        if self.lost.done():
            raise LinkLost(self.lost.result())
        id, answer = self.send(method, params)
        # A timer is all that this takes; a cancel scope costs more than the call.
        timer = self._loop.call_at(until_s, _give_up, answer)
        try:
            return await answer
        finally:
            timer.cancel()
            self._pending.pop(id, None)

    def send(self, method: str, params: Any) -> tuple[int, asyncio.Future[PeerResponse]]:
        """Sends a request; returns its id, and the future of its answer.

        Raises `Crowded`, and `ExtensionFrameError` for a request larger than a frame may be.
        """
        if self.in_flight >= IN_FLIGHT_LIMIT or len(self._waiting) > WAITING_LIMIT_BYTES:
            raise Crowded(f"{self.in_flight} calls wait for it already")
        id = self._last_id + 1
        data = encode_frame(extension_rpc.encode_request(id, method, params))
        self._last_id = id
        answer = self._pending[id] = self._loop.create_future()
        self._send(data)
        return id, answer

    def close(self, loss: Loss) -> None:
        """Stops listening, and fails the requests that still wait."""
        self._lose(loss)
        for answer in self._pending.values():
            if not answer.done():
                answer.set_exception(LinkLost(loss))
                answer.exception()  # it may be that nobody waits for it any more
        self._pending.clear()

    def read(self) -> bool:
        """Takes what is there; returns whether there was anything."""
        if self.lost.done():
            return False
        try:
            data = os.read(self._reads_fd, _READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as fault:
            self._lose(Loss("protocol", f"its standard output cannot be read: {fault}"))
            return False
        if not data:
            self._lose(Loss("protocol", "it closed its standard output", closed=True))
            return False
        try:
            for body in self._frames.feed(data):
                self._take(body)
        except ExtensionFrameError as fault:
            self._lose(Loss(fault.cause, f"it wrote {fault}"))
        except RpcError as fault:
            self._lose(Loss("protocol", f"it wrote {fault}"))
        return True

    def drain(self) -> None:
        """Takes what is left of a process that ended; whoever else has its pipe may write on."""
        for _ in range(_LAST_READS):
            if not self.read():
                break

    def _take(self, body: bytes) -> None:
        match extension_rpc.read_message(body):
            case PeerResponse(id=int() as id) as answered if not isinstance(id, bool):
                future = self._pending.pop(id, None)
                if future is not None and not future.done():
                    future.set_result(answered)
            case PeerRequest(id=id, method=method, params=params):
                if len(self._waiting) > WAITING_LIMIT_BYTES:
                    self._lose(Loss("crowded", "it asks and does not read the answers"))
                    return
                self._send(
                    encode_frame(extension_rpc.encode_answer(id, self._reply(method, params)))
                )

    def _reply(self, method: str, params: Any) -> Any:
        """Answers the other side's request; a few a second, as each takes the loop's time."""
        now_s = self._loop.time()
        if now_s - self._asks_since_s >= 1:
            self._asks, self._asks_since_s = 0, now_s
        self._asks += 1
        if self._asks > ASKS_A_SECOND:
            return RpcRefusal(CROWDED, f"more than {ASKS_A_SECOND} requests in a second")
        return self._asked(method, params)

    def _send(self, data: bytes) -> None:
        if self._waiting:
            self._waiting += data
            return
        written = self._write(data)
        if written < len(data):
            self._waiting += data[written:]
            self._loop.add_writer(self._writes_fd, self._flush)

    def _flush(self) -> None:
        del self._waiting[: self._write(self._waiting)]
        if not self._waiting:
            self._loop.remove_writer(self._writes_fd)

    def _write(self, data: bytes | bytearray) -> int:
        try:
            return os.write(self._writes_fd, data)
        except BlockingIOError:
            return 0
        except OSError as fault:
            self._lose(
                Loss("protocol", f"its standard input cannot be written: {fault}", closed=True)
            )
            return len(data)

    def _lose(self, loss: Loss) -> None:
        if not self.lost.done():
            self._loop.remove_reader(self._reads_fd)
            self._loop.remove_writer(self._writes_fd)
            self.lost.set_result(loss)


def _give_up(answer: asyncio.Future[PeerResponse]) -> None:
    if not answer.done():
        answer.set_exception(TimeoutError())
