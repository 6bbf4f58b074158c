"""Which process sends a stream, over however many connections; real sockets, real senders."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.service.desk import Desk
from tests.service.wire_frames import rest, served, until
from watchgate.agents.streams.stream_source import Source
from watchgate.service.hub.ingest import Ingest
from watchgate.service.system.runtime_dir import bind_listener
from watchgate.service.wire.line_sources import MAX_SOURCES, LineSources, process_start_us

BEGAN_US = 1_795_000_000_000_000


class Gone:
    def __init__(self) -> None:
        self.sources: list[Source] = []

    def __call__(self, source: Source) -> None:
        self.sources.append(source)


def connected(sources: LineSources, pid: int, gone: Gone, lines: bytes = b"") -> Source:
    """One connection, from its begin to its end."""
    with sources.connected(pid, gone) as link:
        link.count(lines)
        return link.source


def test_one_process_is_one_source_over_all_its_connections() -> None:
    sources, gone = LineSources(lambda _pid: BEGAN_US), Gone()
    first = connected(sources, 7, gone, b"{}\n")
    assert connected(sources, 7, gone, b"{}\n") is first
    assert first.guess.startswith("pid 7 at ")
    assert first.pid == 7


def test_a_number_that_another_process_has_now_is_another_source() -> None:
    began = iter((BEGAN_US, BEGAN_US + 5_000_000))
    sources = LineSources(lambda _pid: next(began))
    first, second = (connected(sources, 7, Gone()) for _ in range(2))
    assert first is not second
    assert first.guess != second.guess


def test_a_sender_that_ended_before_its_last_lines_were_read_is_still_itself() -> None:
    began = iter((BEGAN_US, None, None))
    sources = LineSources(lambda _pid: next(began))
    first, second, third = (connected(sources, 7, Gone()) for _ in range(3))
    assert first is second is third


@pytest.mark.parametrize("pid", [0, 7])
@pytest.mark.skipif(sys.platform == "darwin", reason="no start times there")
def test_a_sender_that_nothing_is_known_of_is_told_apart_by_its_connection(pid: int) -> None:
    sources = LineSources(lambda _pid: None)
    assert connected(sources, pid, Gone()).guess != connected(sources, pid, Gone()).guess


def test_one_line_says_nothing_of_the_end_a_stream_does() -> None:
    sources, gone = LineSources(lambda _pid: BEGAN_US), Gone()
    connected(sources, 7, gone, b"{}\n")
    assert gone.sources == []
    stream = connected(sources, 7, gone, b"{}\n{}\n")
    assert gone.sources == [stream]


def test_a_source_is_gone_when_its_last_connection_is() -> None:
    sources, gone = LineSources(lambda _pid: BEGAN_US), Gone()
    with sources.connected(7, gone) as outer:
        outer.count(b"{}\n{}\n")
        connected(sources, 7, gone, b"{}\n{}\n")
        assert gone.sources == []
    assert gone.sources == [outer.source]


@pytest.mark.parametrize(
    ("fault", "told"), [(anyio.BrokenResourceError, 1), (ValueError, 0), (KeyboardInterrupt, 0)]
)
def test_only_the_senders_own_end_is_told(fault: type[BaseException], told: int) -> None:
    sources, gone = LineSources(lambda _pid: BEGAN_US), Gone()

    def breaks_off() -> None:
        with sources.connected(7, gone) as link:
            link.count(b"{}\n{}\n")
            raise fault

    with pytest.raises(fault):
        breaks_off()
    assert len(gone.sources) == told


def test_sources_are_forgotten_the_oldest_first() -> None:
    sources, gone = LineSources(lambda _pid: BEGAN_US), Gone()
    first = connected(sources, 1, gone)
    for pid in range(2, MAX_SOURCES + 2):
        connected(sources, pid, gone)
    assert connected(sources, 1, gone) is not first


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_the_start_of_a_process_is_read_from_the_system() -> None:
    mine = process_start_us(os.getpid())
    assert mine is not None
    assert mine == process_start_us(os.getpid())
    assert process_start_us(2**22 + 1) is None


class Whale:
    """A CodeWhale whose sink points here: one connection for each event, closed after its line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def send(self, event: dict[str, Any]) -> None:
        line = json.dumps({"at": "2026-05-31T11:19:28+00:00", "event": event})
        with socket.socket(socket.AF_UNIX) as sink:
            sink.connect(str(self.path))
            sink.sendall(line.encode() + b"\n")


def delta(number: int) -> dict[str, Any]:
    return {"type": "response_delta", "response_id": "r", "delta": f"{number}"}


def said(desk: Desk, agent: str) -> list[str]:
    records = [record for record in desk.console.records if record.agent == agent]
    return [record.data["text"] for record in records if record.kind == "message"]


async def test_cw_b3_many_one_line_connections_and_a_stream_are_read_on_one_socket(
    runtime_dir: Path,
) -> None:
    desk = Desk()
    async with served(runtime_dir / "ingest.sock", Ingest(desk.hub).handle) as path:
        async with await anyio.connect_unix(path) as stream:
            await stream.send(b'{"type":"thread.started","thread_id":"t1"}\n')
            for number in range(20):
                await anyio.to_thread.run_sync(Whale(path).send, delta(number))
                item = {"id": f"i{number}", "type": "agent_message", "text": f"c{number}"}
                await stream.send(json.dumps({"type": "item.completed", "item": item}).encode())
                await stream.send(b"\n")
            await stream.send_eof()
            await rest(stream)
        await until(lambda: len(said(desk, "codewhale")) == 20, "all of CodeWhale's")
    assert said(desk, "codewhale") == [str(number) for number in range(20)]
    assert said(desk, "codex") == [f"c{number}" for number in range(20)]
    sessions = {r.session for r in desk.console.records if r.agent == "codewhale"}
    assert len(sessions) == 1, "one process is one session, however often it connects"


BURST = """
import socket, sys
for number in range(int(sys.argv[2])):
    with socket.socket(socket.AF_UNIX) as sink:
        sink.setblocking(False)
        sink.connect(sys.argv[1])
        sink.sendall(b'{"at":"2026-05-31T11:19:28+00:00","event":{"type":"response_delta",'
                     b'"response_id":"r","delta":"%d"}}\\n' % number)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have short queues")
def test_cw_b5_a_burst_of_connections_finds_room_before_any_is_accepted(runtime_dir: Path) -> None:
    path = runtime_dir / "ingest.sock"
    burst = min(int(Path("/proc/sys/net/core/somaxconn").read_text()), 1024) * 3 // 4
    with bind_listener(path):
        # Nobody accepts. A sink that does not wait takes a full queue for "no listener".
        done = subprocess.run([sys.executable, "-c", BURST, str(path), str(burst)], timeout=60)
    assert done.returncode == 0


async def test_cw_b17_a_stream_that_breaks_off_closes_its_open_turn(runtime_dir: Path) -> None:
    desk = Desk()
    async with served(runtime_dir / "ingest.sock", Ingest(desk.hub).handle) as path:
        async with await anyio.connect_unix(path) as stream:
            await stream.send(b'{"type":"thread.started","thread_id":"t1"}\n')
            await stream.send(b'{"type":"turn.started"}\n')
            ran = '{"type":"item.started","item":{"id":"i","type":"command_execution",'
            await stream.send(ran.encode() + b'"command":"make","status":"in_progress"}}\n')
            await until(lambda: "tool.pre" in desk.kinds(), "the call")
        await until(lambda: "turn.interrupt" in desk.kinds(), "the end of the turn")
    assert "source gone" in desk.last("turn.interrupt")["text"]
    view = desk.hub.recorder.state.session("codex", "t1")
    assert view is not None
    assert view.state == "idle"
