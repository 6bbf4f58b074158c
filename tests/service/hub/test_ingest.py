from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketStream

from tests.service.wire_frames import is_root, knock_as_nobody, rest, served, until
from watchgate.agents.base import HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.base.clock import Instant
from watchgate.core.secrets.secret_finder import SecretsByText
from watchgate.service.admission import socket_shares
from watchgate.service.admission.large_texts import Prepared
from watchgate.service.hub.hook_frames import HookFrame
from watchgate.service.hub.ingest import Ingest
from watchgate.service.hub.interfaces import PendingReply, ReplyFactory
from watchgate.service.identity.ancestry import Peer
from watchgate.service.wire.framing import FrameHead

FRAME = b"watchgate/1 claude gate\nlength: 2\nevent: PreToolUse\n\n{}"


class Notes:
    """A hub that keeps what it is given, and answers when a test says so."""

    deciding = False

    def __init__(self) -> None:
        self.heard: list[tuple[str, object]] = []
        self.conns: list[PendingReply] = []
        self.fails = False

    def frame(self, head: FrameHead, payload: bytes, conn: PendingReply) -> None:
        if self.fails:
            raise ValueError("a bug")
        self.heard.append(("frame", payload))
        self.conns.append(conn)

    def received(self, head: FrameHead, payload: bytes, pid: int) -> HookFrame:
        return HookFrame(head, payload, pid, Instant(0, 0.0))

    def prepared(self, frame: HookFrame) -> HookFrame:
        return frame

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        return Prepared

    def ahead(self, prepared: Prepared) -> Callable[[], None]:
        return lambda: None

    def take(self, frame: HookFrame, conn: PendingReply) -> None:
        self.frame(frame.head, frame.payload, conn)

    def bad_frame(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        self.heard.append(("bad", why))
        conn.say(HookAnswer(b"", b"closed", 2), None)

    def failed(self, fault: str, conn: PendingReply, head: FrameHead | None = None) -> None:
        self.heard.append(("failed", fault))
        conn.say(HookAnswer(b"", b"failed", 2), None)

    def turned_away(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        self.heard.append(("turned away", why))
        conn.say(HookAnswer(b"", b"closed", 2), None)

    def delivered(self, conn: PendingReply, *, ok: bool) -> None:
        self.heard.append(("delivered", ok))

    def hung_up(self, conn: PendingReply) -> None:
        self.heard.append(("hung up", conn.number))

    def source_gone(self, source: Source) -> None:
        self.heard.append(("gone", source.pid))

    def lines(
        self,
        chunk: bytes,
        source: Source,
        asker: ReplyFactory,
        secrets: SecretsByText | None = None,
    ) -> Iterator[None]:
        self.heard.append(("lines", chunk))
        for line in chunk.splitlines():
            if b"boom" in line:
                raise ValueError("a bug")
            if b"ask" in line:
                self.conns.append(asker())
        return iter(())

    def oversized_line(self, size_bytes: int, pid: int) -> None:
        self.heard.append(("oversized", size_bytes))

    def kinds(self) -> list[str]:
        return [kind for kind, _ in self.heard]


@pytest.fixture
def hub() -> Notes:
    return Notes()


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


async def connected(hub: Notes, count: int = 1) -> PendingReply:
    """The newest connection that waits for an answer."""
    await until(lambda: len(hub.conns) >= count, "a connection that waits")
    return hub.conns[-1]


async def test_a_frame_is_handed_over_whole_and_its_answer_written(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME)
        conn = await connected(hub)
        assert conn.pid == os.getpid()
        conn.say(HookAnswer(b"out", b"err", 2), "r1")
        assert await rest(peer) == b"2 3 3\nouterr"
        await until(lambda: ("delivered", True) in hub.heard, "delivery")
    assert hub.heard[0] == ("frame", b"{}")


async def test_a_frame_may_come_in_pieces(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        for piece in (FRAME[:5], FRAME[5:40], FRAME[40:-1], FRAME[-1:]):
            await peer.send(piece)
            await anyio.sleep(0.01)
        await connected(hub)
    assert hub.heard[0] == ("frame", b"{}")


async def test_only_the_first_answer_counts(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME)
        conn = await connected(hub)
        conn.say(HookAnswer(b"one"), None)
        conn.say(HookAnswer(b"two"), None)
        assert await rest(peer) == b"0 3 0\none"


async def test_ap_4_a_client_that_leaves_is_noticed_while_it_waits(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle):
        async with await anyio.connect_unix(path) as peer:
            await peer.send(FRAME)
            conn = await connected(hub)
        await until(lambda: ("hung up", conn.number) in hub.heard, "the hang-up")


async def test_an_observer_gets_no_answer_and_no_wait(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME.replace(b" gate", b" observe"))
        assert await rest(peer) == b""
    assert hub.kinds() == ["frame"]


@pytest.mark.parametrize(
    ("frame", "why"),
    [
        (b"hello\n\n", "unreadable header"),
        (b"watchgate/1 claude gate\n\n", "no length"),
        (b"watchgate/1 claude gate\nlength: -1\n\n", "negative"),
        (b"watchgate/1 claude gate\nlength: 9999999\n\n", "9999999 bytes"),
        (b"watchgate/1 claude gate\nlength: 0\ndropped: 5000000\n\n", "5000000 bytes"),
        (
            b"watchgate/1 claude gate\nlength: 0\ndeadline_ms: 1" + b"0" * 400 + b"\n\n",
            "unreadable header",
        ),
        (b"x" * 20_000, "header of over"),
        (b"watchgate/1 claude g\xffte\nlength: 0\n\n", "unreadable header"),
    ],
)
async def test_a_broken_frame_is_answered_closed_with_its_fault(
    hub: Notes, path: Path, frame: bytes, why: str
) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(frame)
        assert await rest(peer) == b"2 0 6\nclosed"
    assert hub.kinds()[0] == "bad"
    assert why in str(hub.heard[0][1])


async def test_a_frame_that_ends_early_is_answered_closed(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(FRAME[:-1])
        await peer.send_eof()
        assert await rest(peer) == b"2 0 6\nclosed"


async def test_a_fault_of_ours_is_answered_closed_and_the_next_client_served(
    hub: Notes, path: Path
) -> None:
    async with served(path, Ingest(hub).handle):
        hub.fails = True
        async with await anyio.connect_unix(path) as peer:
            await peer.send(FRAME)
            assert await rest(peer) == b"2 0 6\nfailed"
        assert str(hub.heard[0][1]).startswith("ValueError at test_ingest.py")
        hub.fails = False
        async with await anyio.connect_unix(path) as peer:
            await peer.send(FRAME)
            (await connected(hub)).say(HookAnswer(b"fine"), None)
            assert await rest(peer) == b"0 4 0\nfine"


async def test_a_fault_of_ours_over_lines_ends_that_stream_alone(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle):
        async with await anyio.connect_unix(path) as peer:
            await peer.send(b'{"boom": 1}\n')
            assert await rest(peer) == b""
        async with await anyio.connect_unix(path) as peer:
            await peer.send(b'{"fine": 1}\n')
            await until(lambda: ("lines", b'{"fine": 1}\n') in hub.heard, "the next stream")
    assert "failed" in hub.kinds()


async def test_lines_come_as_they_are_whole_and_the_last_needs_no_end(
    hub: Notes, path: Path
) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(b'{"a": 1}\n{"b"')
        await until(lambda: hub.heard, "the first line")
        await peer.send(b": 2}")
        await peer.send_eof()
        await rest(peer)
    told = [each for each in hub.heard if each[0] == "lines"]
    assert told == [("lines", b'{"a": 1}\n'), ("lines", b'{"b": 2}')]


async def test_cw_b19_requests_are_answered_on_their_own_stream_also_after_a_half_close(
    hub: Notes, path: Path
) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(b'{"ask": 1}\n{"ask": 2}\n')
        await peer.send_eof()
        await connected(hub, 2)
        hub.conns[1].say(HookAnswer(b"second\n"), None)
        hub.conns[0].say(HookAnswer(b"first\n"), None)
        assert await rest(peer) == b"second\nfirst\n"
        await until(lambda: hub.kinds().count("delivered") == 2, "both deliveries")


async def test_a_stream_that_breaks_withdraws_its_requests(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle):
        with socket.socket(socket.AF_UNIX) as peer:
            peer.connect(str(path))
            peer.sendall(b'{"ask": 1}\n{"ask": 2}\n')
            await connected(hub, 2)
            hub.conns[0].say(HookAnswer(b"an answer that is never read"), None)
            await until(lambda: "delivered" in hub.kinds(), "the first answer")
            # Closing with something unread resets the connection.
        await until(lambda: ("hung up", hub.conns[1].number) in hub.heard, "the withdrawal")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it looks like a half-close")
async def test_a_stream_that_is_closed_whole_withdraws_its_requests(hub: Notes, path: Path) -> None:
    async with served(path, Ingest(hub).handle):
        async with await anyio.connect_unix(path) as peer:
            await peer.send(b'{"ask": 1}\n')
            await connected(hub, 1)
        await until(lambda: ("hung up", hub.conns[0].number) in hub.heard, "the withdrawal")


async def test_a_line_over_the_limit_is_dropped_and_the_stream_goes_on(
    hub: Notes, path: Path
) -> None:
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(b'{"x": "' + b"y" * (5 << 20) + b'"}\n{"after": 1}\n')
        await until(lambda: ("lines", b'{"after": 1}\n') in hub.heard, "the line after")
    assert hub.kinds() == ["oversized", "lines"]


@pytest.mark.skipif(not is_root(), reason="only root can be somebody else")
@pytest.mark.parametrize("words", [FRAME.decode(), '{"ask": 1}\n'])
async def test_ap_20_another_user_is_closed_before_a_byte_is_read(
    hub: Notes, path: Path, words: str
) -> None:
    async with served(path, Ingest(hub).handle):
        assert await knock_as_nobody(path, words) == "b''"
    assert hub.heard == []


async def test_ap_20_a_foreign_uid_gets_nothing(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def foreign(_connection: socket.socket) -> Peer:
        return Peer(pid=1, uid=os.getuid() + 1, gid=0)

    monkeypatch.setattr(socket_shares, "credentials", foreign)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        assert await rest(peer) == b""
    assert hub.heard == []


async def test_ap_20_a_peer_without_credentials_gets_nothing(
    hub: Notes, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unknown(_connection: socket.socket) -> Peer:
        raise OSError("no credentials")

    monkeypatch.setattr(socket_shares, "credentials", unknown)
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        assert await rest(peer) == b""
    assert hub.heard == []


async def test_ap_19_connections_are_told_apart(hub: Notes, path: Path) -> None:
    async def ask(path: Path) -> SocketStream:
        peer = await anyio.connect_unix(path)
        await peer.send(FRAME)
        return peer

    async with served(path, Ingest(hub).handle), await ask(path), await ask(path):
        await connected(hub, 2)
    assert len({conn.number for conn in hub.conns}) == 2
