from __future__ import annotations

import os
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.service.sinks.parts import LARGE, Noted, got, lines, record, running, sent, seqs, sink
from tests.service.wire_frames import NOBODY, WAIT_S, is_root, served, until
from watchgate.service.identity.ancestry import Peer
from watchgate.service.sinks import sink as module
from watchgate.service.sinks import sink_types
from watchgate.service.sinks.delivery import Undelivered
from watchgate.service.sinks.sink import Sinks
from watchgate.service.sinks.sink_types import UnixSocket
from watchgate.service.system.runtime_dir import bind_listener

FULL_IS_TOLD = pytest.mark.skipif(
    sys.platform == "darwin", reason="there a full queue of connections looks like no listener"
)


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "board.sock"


class Reader:
    """Reads every connection to its end."""

    def __init__(self) -> None:
        self.connections: list[bytearray] = []
        self.open = 0

    async def handle(self, stream: SocketStream) -> None:
        data = bytearray()
        self.connections.append(data)
        self.open += 1
        async with stream:
            try:
                while True:
                    data += await stream.receive()
            except (anyio.EndOfStream, anyio.BrokenResourceError):
                self.open -= 1

    @property
    def seqs(self) -> list[int]:
        return [seq for data in self.connections for seq in seqs(bytes(data))]


@asynccontextmanager
async def reading(path: Path, *, leaves: bool = False) -> AsyncIterator[Reader]:
    """A reader; one that `leaves` ends its connections, any other waits until they are ended."""
    reader = Reader()
    async with served(path, reader.handle):
        yield reader
        await until(lambda: leaves or not reader.open, "its connections are ended")
    await anyio.Path(path).unlink()


@pytest.fixture
def hanging(path: Path) -> Iterator[socket.socket]:
    """A listener that takes connections in and reads nothing."""
    with bind_listener(path) as listener:
        yield listener


async def failure(delivery: UnixSocket, count: int = 1) -> Undelivered:
    with pytest.raises(Undelivered) as fault, anyio.fail_after(WAIT_S):
        await delivery.send(lines(count))
    delivery.close()
    return fault.value


async def test_cw_b3_all_records_go_over_one_connection(path: Path) -> None:
    async with reading(path) as reader:
        each = sink(UnixSocket(path))
        async with running(each):
            for seq in range(1, 200):
                each.offer(record(seq))
                if not seq % 20:
                    await until(sent(each, seq), "it is sent")
        await until(lambda: len(reader.seqs) == 199, "all is read")
        assert len(reader.connections) == 1
        assert reader.seqs == list(range(1, 200))


@pytest.mark.parametrize("left_over", [False, True])
async def test_cw_7_that_nobody_listens_is_neither_an_error_nor_told(
    path: Path, left_over: bool
) -> None:
    if left_over:
        bind_listener(path).close()
    fault = await failure(UnixSocket(path))
    assert (fault.then, fault.quiet) == ("drop-all", True)
    assert fault.why.startswith(f"{path}: ")


async def test_cw_7_records_flow_once_somebody_listens(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "PAUSE_FIRST_S", 0.001)
    monkeypatch.setattr(module, "PAUSE_MAX_S", 0.001)
    each = sink(UnixSocket(path))
    async with running(each):
        each.offer(record(1))
        await until(lambda: each.counters.dropped == 1, "it is dropped")
        async with reading(path) as reader:
            each.offer(record(2))
            await until(lambda: reader.seqs == [2], "it arrives")
            each.close()
    assert each.report(every=True) is None


async def test_cw_9_without_unix_sockets_the_sink_does_nothing_and_fails_at_nothing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(socket, "AF_UNIX")
    fault = await failure(UnixSocket(path))
    assert (fault.why, fault.quiet) == ("this platform has no Unix sockets", True)


async def test_cw_b3_a_reader_that_was_started_again_gets_what_came_after(path: Path) -> None:
    delivery = UnixSocket(path)
    async with reading(path, leaves=True) as first:
        await delivery.send(lines(2))
        await until(lambda: first.seqs == [1, 2], "all is read")
    async with reading(path) as second:
        await delivery.send(lines(3))
        await until(lambda: second.seqs == [1, 2, 3], "all is read")
        delivery.close()


async def test_a_line_that_was_cut_by_a_lost_connection_is_sent_again_whole(path: Path) -> None:
    first: list[bytes] = []
    second = Reader()

    async def lose_the_first(stream: SocketStream) -> None:
        if first:
            await second.handle(stream)
            return
        async with stream:
            first.append(await stream.receive(1_000))

    async with served(path, lose_the_first):
        each = sink(UnixSocket(path))
        async with running(each):
            each.offer(record(1, size=4 << 20))
            each.offer(record(2))
            await until(lambda: each.counters.sent == 2, "both are sent")
        await until(lambda: not second.open, "its connection is ended")
    assert second.seqs == [1, 2]


async def test_cw_b4_a_reader_that_takes_nothing_is_left_after_a_while(
    path: Path, hanging: socket.socket
) -> None:
    entry = b"x" * LARGE * 4
    delivery = UnixSocket(path, blocked_s=0.05)
    with pytest.raises(Undelivered) as fault, anyio.fail_after(WAIT_S):
        await delivery.send([b"1\n", entry])
    assert (fault.value.then, fault.value.sent) == ("retry", 1)
    assert "its reader took nothing for 0.05 s" in fault.value.why


async def test_cw_b4_a_listener_that_never_reads_holds_up_nobody_and_the_queue_stays_bounded(
    path: Path, hanging: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "FLUSH_S", 0.01)
    other = Noted()
    slow = sink(UnixSocket(path), queue=10)
    sinks = Sinks([slow, sink(other)])
    async with running(sinks):
        for seq in range(1, 101):
            sinks.offer(record(seq, size=LARGE))
            await until(got(other, seq), "the other sink has it")
        assert slow.counters.sent <= 10
        assert slow.counters.dropped >= 100 - 10 - 10 - slow.counters.sent
    assert slow.counters.sent + slow.counters.lost == 100
    assert other.seqs == list(range(1, 101))


@FULL_IS_TOLD
async def test_cw_b5_a_listener_that_is_late_to_accept_is_waited_for_and_not_taken_for_absent(
    path: Path,
) -> None:
    with _full(path):
        fault = await failure(UnixSocket(path, connect_s=0.05))
    assert (fault.then, fault.quiet) == ("retry", False)
    assert "its queue of connections is full" in fault.why


@FULL_IS_TOLD
async def test_cw_b5_what_waited_for_a_late_listener_arrives(
    path: Path,
) -> None:
    each = sink(UnixSocket(path))
    full = _full(path)
    async with running(each):
        each.offer(record(1))
        await anyio.wait_all_tasks_blocked()
        first, _ = full.listener.accept()
        first.close()
        await until(lambda: each.counters.sent == 1, "it is sent")
    with full:
        second, _ = full.listener.accept()
        with second:
            assert seqs(second.recv(1 << 16)) == [1]


@pytest.mark.parametrize("what", ["a file", "a link"])
async def test_cw_b1_what_is_no_socket_gets_nothing(
    path: Path, hanging: socket.socket, what: str
) -> None:
    place = path.with_name("place")
    if what == "a link":
        place.symlink_to(path)
    else:
        place.touch()
    fault = await failure(UnixSocket(place))
    assert (fault.then, fault.quiet) == ("drop-all", False)
    assert "not a socket" in fault.why


@pytest.mark.skipif(not is_root(), reason="only root can give a socket away")
async def test_cw_b1_a_socket_of_another_user_gets_nothing(
    path: Path, hanging: socket.socket
) -> None:
    os.chown(path, NOBODY, NOBODY)
    fault = await failure(UnixSocket(path))
    assert f"the socket belongs to user {NOBODY}, not to you" in fault.why
    assert _unconnected_or_empty(hanging)


async def test_cw_b1_a_listener_of_another_user_gets_nothing(
    path: Path, hanging: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sink_types, "credentials", lambda _: Peer(1, os.geteuid() + 1, 0))
    fault = await failure(UnixSocket(path))
    assert f"user {os.geteuid() + 1} listens there, not you" in fault.why
    assert _unconnected_or_empty(hanging)


def _unconnected_or_empty(listener: socket.socket) -> bool:
    listener.setblocking(False)
    try:
        stream, _ = listener.accept()
    except BlockingIOError:
        return True
    with stream:
        return stream.recv(1) == b""


class _full:  # noqa: N801 - reads as a word
    """A listener whose queue of connections is full."""

    def __init__(self, path: Path) -> None:
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(0)
        self._first = socket.socket(socket.AF_UNIX)
        self._first.connect(str(path))

    def __enter__(self) -> None:
        return

    def __exit__(self, *_: object) -> None:
        self._first.close()
        self.listener.close()
