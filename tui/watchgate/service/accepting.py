"""Accepting connections, also through a shortage of descriptors, and reading a peer's identity."""

from __future__ import annotations

import socket
from collections.abc import Callable, Coroutine
from typing import Any

import anyio
from anyio.abc import SocketListener, SocketStream

from watchgate.service.peer import Peer, credentials

PAUSE_S = 0.1


async def serve(
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
