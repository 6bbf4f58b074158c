"""Large frames are read beside the loop, and nothing comes out of its order for that."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.service.desk import Desk, payload
from tests.service.hub.test_ingest import Notes
from tests.service.wire_frames import rest, served, until
from watchgate.agents.base import HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.model.events import Lane
from watchgate.service.admission.large_texts import (
    LARGE_ASKED_BYTES,
    LARGE_BYTES,
    LargeFrames,
    Prepared,
    has_large_line,
)
from watchgate.service.hub.hook_frames import HookFrame
from watchgate.service.hub.ingest import Ingest
from watchgate.service.wire.framing import FrameHead
from watchgate.service.wire.ingest_lines import OURS

AGENT, OTHER = 7, 8
LARGE = LARGE_BYTES + 1
SMALL = 2
WAIT_S = 60


class Slow(Notes):
    """A hub that reads a frame only once a test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.go_on = threading.Event()
        self.threads: list[threading.Thread] = []

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        def run() -> Prepared:
            self.threads.append(threading.current_thread())
            assert self.go_on.wait(WAIT_S)
            return Prepared()

        return run

    def prepared(self, frame: HookFrame) -> HookFrame:
        self.threads.append(threading.current_thread())
        assert self.go_on.wait(WAIT_S)
        if self.fails:
            raise ValueError("a bug")
        return frame


@pytest.fixture
def hub() -> Slow:
    return Slow()


@pytest.fixture
def path(runtime_dir: Path) -> Path:
    return runtime_dir / "ingest.sock"


def frame_of(size_bytes: int) -> bytes:
    head = f"watchgate/1 claude gate\nlength: {size_bytes}\nevent: PreToolUse\n\n"
    return head.encode() + b" " * size_bytes


def test_what_is_longer_than_8_kib_is_large_and_what_somebody_waits_for_over_2() -> None:
    assert (LARGE_BYTES, LARGE_ASKED_BYTES) == (8_192, 2_048)


@given(
    st.sampled_from([LARGE_BYTES, LARGE_ASKED_BYTES]),
    st.lists(
        st.sampled_from([0, 1, 700, 2_047, 2_048, 2_049, 8_191, 8_192, 8_193]), min_size=1
    ).map(tuple),
    st.booleans(),
)
def test_lines_hold_a_large_one_where_one_of_them_is_longer(
    most_bytes: int, sizes_bytes: tuple[int, ...], ended: bool
) -> None:
    lines = [b"x" * size_bytes for size_bytes in sizes_bytes]
    if most_bytes == LARGE_ASKED_BYTES:
        lines[0] = OURS + lines[0][len(OURS) :]
    piece = b"\n".join(lines) + b"\n" * ended
    assert has_large_line(piece) is any(len(line) > most_bytes for line in lines)


async def test_a_large_frame_is_read_in_a_thread_while_others_are_answered(
    hub: Slow, path: Path
) -> None:
    async with (
        served(path, Ingest(hub, asker_of=lambda _pid: object()).handle),
        await anyio.connect_unix(path) as large,
        await anyio.connect_unix(path) as small,
    ):
        await large.send(frame_of(LARGE))
        await until(lambda: hub.threads, "the large one")
        await small.send(frame_of(SMALL))
        await until(lambda: hub.conns, "the small one")
        hub.conns[0].say(HookAnswer(b"", b"", 0), None)
        assert await rest(small)
        assert hub.kinds() == ["frame", "delivered"]
        hub.go_on.set()
        await until(lambda: len(hub.conns) == 2, "the large one")
    assert threading.main_thread() not in hub.threads


async def test_what_the_same_process_sends_later_waits_for_it(hub: Slow, path: Path) -> None:
    async with (
        served(path, Ingest(hub, asker_of=lambda _pid: AGENT).handle),
        await anyio.connect_unix(path) as large,
        await anyio.connect_unix(path) as small,
    ):
        await large.send(frame_of(LARGE))
        await until(lambda: hub.threads, "the large one")
        await small.send(frame_of(SMALL))
        await anyio.wait_all_tasks_blocked()
        assert hub.heard == []
        hub.go_on.set()
        await until(lambda: len(hub.conns) == 2, "both")
    assert [len(told) for _, told in hub.heard if isinstance(told, bytes)] == [LARGE, SMALL]


async def test_large_lines_of_one_process_are_looked_at_one_after_the_other(
    hub: Slow, path: Path
) -> None:
    line = b'{"type":"' + b"x" * LARGE + b'"}\n'
    async with (
        served(path, Ingest(hub, asker_of=lambda _pid: AGENT).handle),
        await anyio.connect_unix(path) as one,
        await anyio.connect_unix(path) as two,
        await anyio.connect_unix(path) as small,
    ):
        await one.send(line)
        await until(lambda: hub.threads, "the first")
        await two.send(line)
        await small.send(b'{"a":1}\n')
        await until(lambda: hub.heard, "what is small")
        looked_at = len(hub.threads)
        hub.go_on.set()
        await until(lambda: len(hub.heard) == 3, "all")
    assert looked_at == 1
    assert threading.main_thread() not in hub.threads


async def test_turns_of_one_process_come_in_order_and_leave_nothing_behind() -> None:
    turns, order = LargeFrames(lambda pid: pid), list[str]()
    begun = anyio.Event()

    async def take(name: str, pid: int, large: bool, until_set: anyio.Event | None) -> None:
        async with turns.turn(pid, large=large):
            if until_set is not None:
                await until_set.wait()
            order.append(name)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(take, "large", AGENT, True, begun)
        for name in ("second", "third"):
            await anyio.wait_all_tasks_blocked()
            tasks.start_soon(take, name, AGENT, False, None)
        await anyio.wait_all_tasks_blocked()
        await take("other", OTHER, False, None)
        begun.set()
    assert order == ["other", "large", "second", "third"]
    await take("last", AGENT, False, None)
    assert not turns._last


async def test_a_client_that_leaves_meanwhile_is_gone_as_soon_as_its_frame_is_taken(
    hub: Slow, path: Path
) -> None:
    async with served(path, Ingest(hub).handle):
        async with await anyio.connect_unix(path) as peer:
            await peer.send(frame_of(LARGE))
            await until(lambda: hub.threads, "the frame")
        hub.go_on.set()
        await until(lambda: len(hub.heard) == 2, "its end")
    assert hub.kinds() == ["frame", "hung up"]


async def test_a_fault_in_the_thread_is_answered_closed(hub: Slow, path: Path) -> None:
    hub.fails = True
    hub.go_on.set()
    async with served(path, Ingest(hub).handle), await anyio.connect_unix(path) as peer:
        await peer.send(frame_of(LARGE))
        assert await rest(peer) == b"2 0 6\nfailed"
    assert hub.kinds()[0] == "failed"


def head() -> FrameHead:
    return FrameHead(agent="claude", lane=Lane.GATE, length=0, native="PreToolUse", deadline_s=60.0)


def test_what_is_prepared_leaves_the_same_records(tmp_path: Path) -> None:
    raw = payload("high " + "x" * LARGE, "PreToolUse", "c1")
    at_once, beside = Desk(), Desk()
    at_once.hub.frame(head(), raw, at_once.conn())
    frame = beside.hub.received(head(), raw, 7)
    beside.hub.take(beside.hub.prepared(frame), beside.conn())
    assert beside.console.records == at_once.console.records
    assert beside.hub.engine.broker.open


def test_a_deadline_counts_from_when_the_frame_came() -> None:
    desk = Desk()
    frame = desk.hub.received(head(), payload("high", "PreToolUse", "c1"), 7)
    desk.clock.advance(20)
    desk.hub.take(desk.hub.prepared(frame), desk.conn())
    (request,) = desk.hub.engine.broker.open.values()
    assert request.deadline_s <= frame.at.mono_s + 60


def test_an_unreadable_one_is_answered_closed() -> None:
    desk, broken = Desk(), b"{" * LARGE
    conn = desk.conn()
    desk.hub.take(desk.hub.prepared(desk.hub.received(head(), broken, 7)), conn)
    assert conn.answer is not None
    assert b"deny" in conn.answer.stdout
    assert desk.kinds() == ["unknown"]
