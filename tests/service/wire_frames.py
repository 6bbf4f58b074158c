"""Real sockets for tests: served by what is tested, reached as clients reach them."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import SocketListener, SocketStream

from watchgate.service.admission.socket_shares import accept_connections
from watchgate.service.system.runtime_dir import bind_listener

WAIT_S = float(os.environ.get("WATCHGATE_TEST_WAIT_S", "60"))
NOBODY = 65_534
KNOCK = """
import os, socket, sys
os.setgroups([])
os.setuid(int(sys.argv[2]))
with socket.socket(socket.AF_UNIX) as peer:
    peer.settimeout(20)
    peer.connect(sys.argv[1])
    try:
        peer.sendall(sys.argv[3].encode())
        print(peer.recv(65536))
    except ConnectionError:
        print(b"")
"""


@asynccontextmanager
async def served(
    path: Path, handle: Callable[[SocketStream], Coroutine[Any, Any, None]]
) -> AsyncIterator[Path]:
    """A listening socket whose connections `handle` gets."""
    listener = await SocketListener.from_socket(bind_listener(path))
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(accept_connections, listener, handle, lambda _why: None)
        yield path
        # A reader that wakes while it is cancelled is an error to the event loop.
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()


async def rest(stream: SocketStream) -> bytes:
    """Everything until the other side closes."""
    data = b""
    with anyio.fail_after(WAIT_S):
        while True:
            try:
                data += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                return data


async def until(look: Callable[[], Any], what: str) -> Any:
    """What `look` finds, as soon as it finds anything."""
    with anyio.move_on_after(WAIT_S):
        while True:
            if found := look():
                return found
            await anyio.sleep(0.005)
    raise AssertionError(f"not seen in {WAIT_S:.0f} s: {what}")


async def knock_as_nobody(path: Path, words: str) -> str:
    """What a process of another user gets; the way to the socket is opened for it."""
    _open_the_way(path)
    done = await anyio.run_process(
        [sys.executable, "-I", "-S", "-c", KNOCK, str(path), str(NOBODY), words],
        check=False,
        stderr=subprocess.STDOUT,
    )
    return done.stdout.decode().strip()


def _open_the_way(path: Path) -> None:
    for part in (path.parent.parent, path.parent, path):
        part.chmod(0o777)


def is_root() -> bool:
    return os.geteuid() == 0


@asynccontextmanager
async def pair(path: Path) -> AsyncIterator[tuple[SocketStream, socket.socket]]:
    """Both ends of a connection: the served one as the core has it, the client's as a socket."""
    listener = await SocketListener.from_socket(bind_listener(path))
    there = socket.socket(socket.AF_UNIX)
    there.setblocking(False)
    async with listener:
        there.connect(str(path))
        async with await listener.accept() as here:
            with there:
                yield here, there
