"""Reading from a socket so that a read can be cancelled at any moment."""

from __future__ import annotations

from typing import Protocol

import anyio
import anyio.lowlevel
from anyio.abc import ByteStream, SocketAttribute


class Connection(Protocol):
    """As much of a socket that does not block as receiving needs."""

    def recv(self, size_bytes: int, /) -> bytes:
        """Some bytes; raises `BlockingIOError` while there are none."""
        ...

    def fileno(self) -> int:
        """The descriptor to wait for."""
        ...


async def receive(stream: ByteStream, size_bytes: int) -> bytes:
    """Some bytes, as `stream.receive`, which for a socket fails when cancelled as its data arrives.

    Then anyio's Unix stream settles a future that is cancelled already, and the event loop reports
    an `InvalidStateError` that nobody can catch (seen in anyio 4.16). Pipes have no such fault.
    Raises `EndOfStream` when the other side ended, `BrokenResourceError` when the stream is gone.
    """
    connection = stream.extra(SocketAttribute.raw_socket, None)
    if connection is None:
        return await stream.receive(size_bytes)
    return await receive_from(connection, size_bytes)


async def receive_from(connection: Connection, size_bytes: int) -> bytes:
    """As `receive`, for a socket that is at hand: to ask a stream for it takes longer."""
    await anyio.lowlevel.checkpoint()
    while (data := receive_now(connection, size_bytes)) is None:
        await readable(connection)
    return data


async def readable(connection: Connection) -> None:
    """Waits until there is something to receive; raises `BrokenResourceError` as `receive`."""
    try:
        await anyio.wait_readable(connection)
    except OSError as error:
        raise anyio.BrokenResourceError from error


def receive_now(connection: Connection, size_bytes: int) -> bytes | None:
    """The bytes that are there, or None; raises as `receive`."""
    try:
        data = connection.recv(size_bytes)
    except BlockingIOError:
        return None
    except OSError as error:
        raise anyio.BrokenResourceError from error
    if not data:
        raise anyio.EndOfStream
    return data
