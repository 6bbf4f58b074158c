"""Taking in connections, also through a shortage of descriptors, and asking who they are."""

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
    """Start a task of `handle` for every connection, until the listener is closed.

    `troubled` is told once when no connection can be taken in; those that wait are taken in later.
    """
    async with anyio.create_task_group() as tasks:
        told = False
        while True:
            try:
                stream = await listener.accept()
            except anyio.ClosedResourceError:
                return
            except anyio.BrokenResourceError as fault:
                if not told:
                    troubled(str(fault.__cause__ or fault))
                told = True
                await anyio.sleep(PAUSE_S)
            else:
                told = False
                tasks.start_soon(handle, stream)


def peer_of(connection: socket.socket) -> Peer | None:
    """Who connected; None when the kernel has no word on it."""
    try:
        return credentials(connection)
    except OSError:
        return None
