from __future__ import annotations

import socket
from pathlib import Path

import anyio
import msgspec
import pytest

from tests.service.wire_frames import WAIT_S, pair
from watchgate.core.model.records import Record
from watchgate.link.protocol import Push
from watchgate.service.control.caller import Outbox
from watchgate.service.control.control_socket import send_queue

BLOCKED_S = 0.2


def record(seq: int, size: int) -> Record:
    return Record(v=1, seq=seq, core="c", at=0, kind="approval.requested", data={"x": "y" * size})


async def receive(there: socket.socket) -> bytes:
    with anyio.fail_after(WAIT_S):
        await anyio.wait_readable(there)
    return there.recv(1 << 16)


async def test_lines_are_sent_as_they_come(short_path: Path) -> None:
    outbox = Outbox()
    async with pair(short_path / "s") as (here, there), anyio.create_task_group() as tasks:
        tasks.start_soon(send_queue, here, outbox)
        outbox.put(b"one\n")
        assert await receive(there) == b"one\n"
        outbox.put(b"two\n")
        assert await receive(there) == b"two\n"
        tasks.cancel_scope.cancel()


async def test_a_client_that_takes_nothing_is_ended(short_path: Path) -> None:
    outbox = Outbox()
    async with pair(short_path / "s") as (here, _there):
        outbox.offer(record(1, 4 << 20))
        with anyio.fail_after(WAIT_S):
            await send_queue(here, outbox, blocked_s=BLOCKED_S)
            with pytest.raises(anyio.EndOfStream):
                await here.receive()


async def test_what_a_blocked_client_can_still_read_is_whole_lines_and_the_reason(
    short_path: Path,
) -> None:
    outbox = Outbox()
    for seq in range(400):
        outbox.offer(record(seq, 4_000))
    data = b""
    async with pair(short_path / "s") as (here, there), anyio.create_task_group() as tasks:

        async def send() -> None:
            async with here:
                await send_queue(here, outbox, blocked_s=BLOCKED_S)

        tasks.start_soon(send)
        await anyio.sleep(BLOCKED_S * 2)  # longer than it may be blocked
        while chunk := await receive(there):
            data += chunk
    pushes = [msgspec.json.decode(line, type=Push) for line in data.splitlines()]
    assert pushes[-1].closed == f"read nothing for {BLOCKED_S:g} s"
    got = [push.record.seq for push in pushes if push.record]
    assert got == list(range(len(got)))


async def test_a_client_that_reads_slowly_but_steadily_is_kept(short_path: Path) -> None:
    outbox = Outbox()
    line = msgspec.json.encode(Push(record=record(1, 2 << 20))) + b"\n"
    got = 0
    async with pair(short_path / "s") as (here, there), anyio.create_task_group() as tasks:
        outbox.put(line)
        tasks.start_soon(send_queue, here, outbox)
        while got < len(line):
            got += len(await receive(there))
            await anyio.sleep(0.01)
        outbox.put(b"still there\n")
        assert await receive(there) == b"still there\n"
        tasks.cancel_scope.cancel()


async def test_a_client_that_left_ends_the_connection(short_path: Path) -> None:
    outbox = Outbox()
    outbox.put(b"one\n")
    async with pair(short_path / "s") as (here, there):
        there.close()
        with anyio.fail_after(WAIT_S):
            await send_queue(here, outbox)
