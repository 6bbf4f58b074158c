"""A read that is cancelled in the very turn its data arrives."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from anyio.abc import SocketAttribute, SocketStream

from watchgate.link.receiving import receive


@pytest.fixture
async def ends(tmp_path: Path) -> AsyncIterator[tuple[SocketStream, SocketStream]]:
    """Two ends of one connection."""
    listener = await anyio.create_unix_listener(tmp_path / "s")
    async with (
        listener,
        await anyio.connect_unix(tmp_path / "s") as far,
        await listener.accept() as near,
    ):
        yield near, far


async def test_what_was_sent_is_received(ends: tuple[SocketStream, SocketStream]) -> None:
    near, far = ends
    await far.send(b"abcdef")
    assert await receive(near, 4) == b"abcd"
    assert await receive(near, 4) == b"ef"


async def test_a_cancel_in_the_turn_of_the_data_raises_nowhere_and_loses_nothing(
    ends: tuple[SocketStream, SocketStream],
) -> None:
    near, far = ends
    raw: socket.socket = far.extra(SocketAttribute.raw_socket)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(receive, near, 16)
        await anyio.wait_all_tasks_blocked()
        raw.send(b"x")
        # The data is found while this task's own wake-up already stands in the queue before it.
        await anyio.lowlevel.checkpoint()
        tasks.cancel_scope.cancel()
    assert await receive(near, 16) == b"x"


async def test_the_end_and_a_closed_socket_are_told_apart(
    ends: tuple[SocketStream, SocketStream],
) -> None:
    near, far = ends
    await far.aclose()
    with pytest.raises(anyio.EndOfStream):
        await receive(near, 16)
    near.extra(SocketAttribute.raw_socket).close()
    with pytest.raises(anyio.BrokenResourceError):
        await receive(near, 16)
