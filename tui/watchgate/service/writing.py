"""Sending queued lines to one control client, for as long as it reads.

A client that takes nothing for 5 s while there is something to send is closed with the reason;
one that reads slowly but steadily is not.
"""

from __future__ import annotations

import socket
from contextlib import suppress

import anyio
import msgspec
from anyio.abc import SocketAttribute, SocketStream

from watchgate.link.protocol import Push
from watchgate.service.outbox import Outbox

BLOCKED_S = 5.0
GOODBYE_S = 0.5


async def write(stream: SocketStream, outbox: Outbox, *, blocked_s: float = BLOCKED_S) -> None:
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
