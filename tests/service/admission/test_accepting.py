from __future__ import annotations

import errno
from pathlib import Path
from typing import cast

import anyio
import pytest
from anyio.abc import SocketListener, SocketStream

from tests.service.wire_frames import rest, until
from watchgate.service.admission import socket_shares
from watchgate.service.system.runtime_dir import bind_listener


class Short:
    """A listener that is out of descriptors for its first connections."""

    def __init__(self, listener: SocketListener, fails: int) -> None:
        self._listener = listener
        self.fails = fails

    async def accept(self) -> SocketStream:
        if self.fails:
            self.fails -= 1
            raise anyio.BrokenResourceError from OSError(errno.EMFILE, "Too many open files")
        return await self._listener.accept()


async def bye(stream: SocketStream) -> None:
    async with stream:
        await stream.send(b"bye")


async def test_a_shortage_of_descriptors_ends_nothing_and_is_told_once(
    runtime_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "PAUSE_S", 0.001)
    told: list[str] = []
    listener = await SocketListener.from_socket(bind_listener(runtime_dir / "s"))
    short = Short(listener, fails=3)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(
            socket_shares.accept_connections, cast("SocketListener", short), bye, told.append
        )
        async with await anyio.connect_unix(runtime_dir / "s") as peer:
            assert await rest(peer) == b"bye"
        assert len(told) == 1
        assert "Too many open files" in told[0]
        short.fails = 1
        async with await anyio.connect_unix(runtime_dir / "s") as peer:
            assert await rest(peer) == b"bye"
        async with await anyio.connect_unix(runtime_dir / "s") as peer:
            assert await rest(peer) == b"bye"
        await until(lambda: len(told) == 2, "the second shortage")
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
