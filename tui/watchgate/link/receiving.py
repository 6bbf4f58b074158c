"""Reading from a socket so that a read can be cancelled at any moment."""

from __future__ import annotations

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream, SocketAttribute


async def receive(stream: ByteStream, size_bytes: int) -> bytes:
    """Some bytes, as `stream.receive`, which for a socket fails when cancelled as its data arrives.

    Then anyio's Unix stream settles a future that is cancelled already, and the event loop reports
    an `InvalidStateError` that nobody can catch (seen in anyio 4.16). Pipes have no such fault.
    Raises `EndOfStream` when the other side ended, `BrokenResourceError` when the stream is gone.
    """
    connection = stream.extra(SocketAttribute.raw_socket, None)
    if connection is None:
        return await stream.receive(size_bytes)
    await anyio.lowlevel.checkpoint()
    try:
        while True:
            try:
                data = connection.recv(size_bytes)
                break
            except BlockingIOError:
                await anyio.wait_readable(connection)
    except OSError as error:
        raise anyio.BrokenResourceError from error
    if not data:
        raise anyio.EndOfStream
    return data
