"""Connections that say nothing or never end: they are told so, and hold up nobody else."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from tests.service.hub.test_ingest import FRAME, Notes, connected
from tests.service.wire_frames import rest, served, until
from watchgate.service.admission import socket_shares
from watchgate.service.hub import ingest
from watchgate.service.hub.ingest import Ingest
from watchgate.service.system import process_limits
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.system.process_limits import ConnectionLimits
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES


@pytest.fixture
def hub() -> Notes:
    return Notes()


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


@pytest.fixture
def drops(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many bytes of each line were kept when it was dropped."""
    sizes: list[int] = []
    drop = LineSplitter.drop

    def dropped(splitter: LineSplitter) -> None:
        sizes.append(splitter.unfinished_bytes)
        drop(splitter)

    monkeypatch.setattr(LineSplitter, "drop", dropped)
    return sizes


def test_the_limits_are_these() -> None:
    assert (socket_shares.FIRST_BYTE_S, socket_shares.LAST_BYTE_S) == (10, 30)
    assert (socket_shares.UNFINISHED_BYTES >> 20, socket_shares.UNFINISHED_SHARE >> 20) == (64, 16)
    assert (process_limits.INGEST_CONNECTIONS, process_limits.INGEST_SHARE) == (8_192, 1_024)
    assert (process_limits.CONTROL_CONNECTIONS, process_limits.CONTROL_SHARE) == (128, 32)
    assert process_limits.WANTED == 65_536
    assert process_limits.RESERVED > process_limits.CONTROL_CONNECTIONS


def test_few_descriptors_are_shared_out_so_that_some_stay_for_control(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _which: (1_024, 1_024))
    assert process_limits.ingest_limits() == ConnectionLimits(total=640, share=160)


async def test_a_connection_that_says_nothing_is_closed_with_the_reason(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "FIRST_BYTE_S", 0.05)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        assert b"2 0 6\nclosed" in await rest(peer)
    assert hub.heard[0] == ("turned away", "nothing came within 10 s of connecting")


async def test_a_frame_that_never_ends_is_closed_with_the_reason(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "LAST_BYTE_S", 0.05)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME.replace(b"length: 2", b"length: 3"))
        assert await rest(peer) == b"2 0 6\nclosed"
    assert hub.heard[0] == ("bad", "the frame was not whole within 30 s")


async def test_a_hook_that_waits_for_its_answer_has_no_such_clock(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "LAST_BYTE_S", 0.01)
    monkeypatch.setattr(ingest, "FIRST_BYTE_S", 0.01)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME)
        conn = await connected(hub)
        async with await anyio.connect_unix(path) as other:  # which is closed meanwhile
            await rest(other)
        assert conn.answer is None
        assert ("hung up", conn.number) not in hub.heard


async def test_unfinished_payloads_wait_for_room_and_those_that_had_it_end(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "UNFINISHED_SHARE", 2 * MAX_PAYLOAD_BYTES)
    whole = FRAME.replace(b"length: 2", b"length: %d" % MAX_PAYLOAD_BYTES)[:-2]
    async with served(path, Ingest(hub).handle), anyio.create_task_group() as tasks:

        async def send_one() -> None:
            async with await anyio.connect_unix(path) as peer:
                await peer.send(whole + bytes(MAX_PAYLOAD_BYTES))
                await until(lambda: len(hub.conns) == 8, "all of them")

        for _ in range(8):
            tasks.start_soon(send_one)
    assert hub.kinds().count("frame") == 8


async def test_a_payload_for_which_there_never_is_room_is_closed_with_the_limit(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "UNFINISHED_SHARE", 10)
    monkeypatch.setattr(ingest, "LAST_BYTE_S", 0.05)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME.replace(b"length: 2", b"length: 11"))
        assert await rest(peer) == b"2 0 6\nclosed"
    ((_, why),) = [each for each in hub.heard if each[0] == "bad"]
    assert "16 MiB of one asking process" in str(why)


async def test_a_long_line_without_an_end_is_dropped_and_the_stream_goes_on(
    hub: Notes, path: Path, drops: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "LAST_BYTE_S", 0.05)
    monkeypatch.setattr(socket_shares, "PATIENT_BYTES", 3)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(b'{}\n{"half')
        await until(lambda: "lines" in hub.kinds(), "the first line")
        await until(lambda: drops, "the end of its patience")
        await peer.send(b' a line"}\n{"next":1}\n')
        await until(lambda: ("lines", b'{"next":1}\n') in hub.heard, "the next line")
    assert "oversized" in hub.kinds()


async def test_a_line_for_which_there_is_no_room_is_dropped_at_once(
    hub: Notes, path: Path, drops: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_shares, "UNFINISHED_SHARE", 4)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(b'{"half')
        await until(lambda: drops, "no room for it")
        await peer.send(b' a line"}\n{"next":1}\n')
        await until(lambda: ("lines", b'{"next":1}\n') in hub.heard, "the next line")
    assert "oversized" in hub.kinds()


async def test_one_connection_too_many_is_refused_in_words_and_room_comes_back(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest, "ingest_limits", lambda: ConnectionLimits(total=3, share=1))
    async with served(path, Ingest(hub).handle):
        async with await anyio.connect_unix(path) as first:
            await first.send(FRAME)
            await connected(hub)
            async with await anyio.connect_unix(path) as second:
                await second.send(FRAME)
                assert await rest(second) == b"2 0 6\nclosed"
        ((_, why),) = [each for each in hub.heard if each[0] == "turned away"]
        assert "has 1 connections open already" in str(why)
        await until(lambda: "hung up" in hub.kinds(), "the end of the first")
        async with await anyio.connect_unix(path) as third:
            await third.send(FRAME)
            await connected(hub, 2)


def test_a_child_gets_the_limit_that_its_parent_was_started_with() -> None:
    script = (
        "import resource, subprocess, sys\n"
        "from watchgate.service.system.process_limits import raise_limit, restore_child_limit\n"
        "_, hard = resource.getrlimit(resource.RLIMIT_NOFILE)\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))\n"
        "raise_limit()\n"
        "child = subprocess.Popen(['sh', '-c', 'read _; ulimit -n'], stdin=subprocess.PIPE)\n"
        "restore_child_limit(child.pid)\n"
        "child.communicate(b'\\n')\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    childs, own = map(int, done.stdout.split())
    assert own > 256
    assert childs == (256 if sys.platform == "linux" else own)
