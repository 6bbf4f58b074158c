"""Ingest on persistent connections against a raw loop, and what one connection per event costs."""

from __future__ import annotations

import argparse
import itertools
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from bench.figures import Figure, interleaved_medians, report
from bench.payloads import hook_events, lines

CONNECTIONS = 8
CHUNK_BYTES = 64 * 1024
TYPED_LIMIT = 1 / 0.85


def lines_us(kind: str, streams: list[list[bytes]], total: int) -> float:
    """CPU microseconds per event of a server while it reads all streams at once."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        path = Path(directory) / "ingest.sock"
        server = _server(kind, path, total)
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


def connects_us(frames: list[bytes]) -> float:
    """CPU microseconds of our server per hook frame that comes on a connection of its own."""
    with tempfile.TemporaryDirectory(prefix="wg-") as directory:
        path = Path(directory) / "ingest.sock"
        server = _server("events", path, len(frames))
        for frame in frames:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(path))
                connection.sendall(frame)
        return _took_us(server, len(frames))


def _server(kind: str, path: Path, total: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "bench.ingest_server", kind, str(path), str(total)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
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


def figures(runs: int, total: int, connects: int) -> Iterator[Figure]:
    """Typed decode to its limit; reported: whole events, and hooks that cannot stay connected."""
    each = total // CONNECTIONS
    feed = lines()
    streams = [_chunked(b"".join(itertools.islice(feed, each))) for _ in range(CONNECTIONS)]
    total = each * CONNECTIONS
    raw, typed, events = interleaved_medians(
        [partial(lines_us, kind, streams, total) for kind in ("raw", "typed", "events")],
        runs,
    )
    told = f"{total} events on {CONNECTIONS} connections, medians of {runs}"
    yield Figure(
        "ingest with typed decode, CPU to a raw epoll loop",
        typed / raw,
        TYPED_LIMIT,
        f"{typed:.2f} / {raw:.2f} us; {raw / typed:.2f}x its rate (at least 0.85); {told}",
    )
    yield Figure(
        "ingest with canonical events, CPU to a raw epoll loop",
        events / raw,
        None,
        f"{events:.2f} / {raw:.2f} us: event, tool and input digest too; {told}; reported",
    )
    frames = [_frame(*event) for event in itertools.islice(hook_events(), connects)]
    cost = interleaved_medians([lambda: connects_us(frames)], runs)[0]
    yield Figure(
        "ingest, server CPU per hook connection",
        cost,
        None,
        f"observe frames, {connects} connects, median of {runs}; reported",
        "us",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--events", type=int, default=120_000)
    parser.add_argument("--connects", type=int, default=3_000)
    given = parser.parse_args()
    return report(figures(given.runs, given.events, given.connects))


if __name__ == "__main__":
    sys.exit(main())
