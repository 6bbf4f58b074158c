"""Ingest on persistent connections against a raw loop, and what one connection per event costs."""

from __future__ import annotations

import argparse
import itertools
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.figures import Beside, Figure, interleaved_medians, left_out, report
from bench.payloads import hook_events, lines

CONNECTIONS = (1, 64)
CHUNK_BYTES = 64 * 1024
TYPED_LIMIT = 1.18
"""A rate of at least 0.85 of the raw loop's."""

STREAMS_LIMIT = 0.4
"""A rate of at least 2.5 of that of a loop which reads line by line."""

CONNECT_LIMIT = 5.0
EVENT_LIMIT = 4.0
FLOOR = Path(__file__).parent / "peers" / "server.c"


def lines_us(command: list[str], streams: list[list[bytes]], total: int) -> float:
    """CPU microseconds per event of a server while it reads all streams at once."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        path = Path(directory) / "ingest.sock"
        server = _started(command, path, total)
        connections = [socket.socket(socket.AF_UNIX) for _ in streams]
        for connection in connections:
            connection.connect(str(path))
        for chunks in itertools.zip_longest(*streams):
            for connection, chunk in zip(connections, chunks, strict=True):
                if chunk:
                    connection.sendall(chunk)
        took_us = _took_us(server, total)
        for connection in connections:
            connection.close()
    return took_us


def connects_us(command: list[str], frames: list[bytes]) -> float:
    """CPU microseconds of a server per hook frame that comes on a connection of its own."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        path = Path(directory) / "ingest.sock"
        server = _started(command, path, len(frames))
        for frame in frames:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                connection.sendall(frame)
        return _took_us(server, len(frames))


@contextmanager
def compiled() -> Iterator[Path | None]:
    """The server written in C, where there is a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        left_out("ingest beside loops in C", "there was no cc")
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        program = Path(directory) / "server"
        subprocess.run([compiler, "-O2", "-o", program, FLOOR], check=True)
        yield program


def _server(kind: str, floor: Path | None) -> list[str]:
    if kind in {"lines", "connects"}:
        return [str(floor), kind]
    return [sys.executable, "-m", "bench.ingest_server", kind]


def _started(command: list[str], path: Path, total: int) -> subprocess.Popen[str]:
    server = subprocess.Popen([*command, str(path), str(total)], stdout=subprocess.PIPE, text=True)
    while True:
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                assert server.poll() is None, "the server ended early"
                time.sleep(0.02)
            else:
                return server


def _took_us(server: subprocess.Popen[str], total: int) -> float:
    said, _ = server.communicate(timeout=120)
    assert server.returncode == 0
    return float(said) / total * 1e6


def _chunked(data: bytes) -> list[bytes]:
    return [data[at : at + CHUNK_BYTES] for at in range(0, len(data), CHUNK_BYTES)]


def _frame(native: str, payload: bytes) -> bytes:
    head = f"watchgate/1 claude observe\nevent: {native}\nlength: {len(payload)}\n\n"
    return head.encode() + payload


def _streams(connections: int, total: int) -> list[list[bytes]]:
    feed = lines()
    each = total // connections
    return [_chunked(b"".join(itertools.islice(feed, each))) for _ in range(connections)]


def figures(runs: int, total: int, connections: Sequence[int], connects: int) -> Iterator[Figure]:
    """Typed decode to its limits, on one connection and on many; then a connection per event."""
    with compiled() as floor:
        for number in connections:
            yield from _persistent(runs, total, number, floor)
        if connects:
            yield from _connecting(runs, connects, floor)


def _persistent(runs: int, total: int, connections: int, floor: Path | None) -> Iterator[Figure]:
    streams = _streams(connections, total)
    total = total // connections * connections
    cases = {
        name: partial(lines_us, _server(name, floor), streams, total)
        for name in ("typed", "events", "raw", "streams", *(["lines"] if floor else []))
    }
    medians = interleaved_medians(list(cases.values()), runs)
    typed, events, raw, streamed, *counted = medians
    on = f"{connections} connection{'s' * (connections > 1)}"
    told = f"{total:,} events, medians of {runs}"
    loop = Beside("raw epoll, recv and msgspec", raw)
    yield Figure(f"typed event, {on}, CPU", typed, "us", loop, TYPED_LIMIT, told)
    beside = Beside("asyncio streams and json", streamed)
    yield Figure(f"typed event, {on}, CPU", typed, "us", beside, STREAMS_LIMIT, told)
    if counted:
        beside = Beside("a C loop that counts lines, the physical limit", counted[0])
        yield Figure(f"typed event, {on}, CPU", typed, "us", beside, None, told)
    told = f"with its tool and the digest of its input; {told}"
    limit = EVENT_LIMIT if connections == 1 else None
    yield Figure(f"canonical event, {on}, CPU", events, "us", loop, limit, told)


def _connecting(runs: int, connects: int, floor: Path | None) -> Iterator[Figure]:
    frames = [_frame(*event) for event in itertools.islice(hook_events(), connects)]
    cases = [partial(connects_us, _server("events", floor), frames)]
    if floor:
        cases.append(partial(connects_us, _server("connects", floor), frames))
    ours, *least = interleaved_medians(cases, runs)
    beside = Beside("accept, read and close in C", least[0]) if least else None
    told = f"{connects:,} observe frames, medians of {runs}; a client's start is beside it"
    limit = CONNECT_LIMIT if beside else None
    yield Figure("connection per event, CPU of the server", ours, "us", beside, limit, told)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--connections", type=int, nargs="+", default=CONNECTIONS)
    parser.add_argument("--connects", type=int, default=3_000)
    given = parser.parse_args()
    return report(figures(given.runs, given.events, given.connections, given.connects))


if __name__ == "__main__":
    sys.exit(main())
