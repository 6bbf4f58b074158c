"""A core of a few lines behind a real Unix socket, and the real client run against it."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import Queue
from typing import NamedTuple

from watchgate import client

SCRIPT = Path(client.__file__)
PYTHON = str(getattr(sys, "_base_executable", sys.executable))
REFERENCE = (PYTHON, "-I", "-S", str(SCRIPT))
TEMPLATE = '{"decision":"deny","reason":"@","again":"@"}'
PATIENCE_S = 60


class Frame(NamedTuple):
    """What one client sent: its header lines and its payload."""

    header: list[str]
    payload: bytes


class UnderTest:
    """What starts the client that a test is about; the fixture `each_client` changes it."""

    start: Sequence[str] = REFERENCE


class SlowLook:
    """A look at the socket that takes ten seconds, by a clock that stands still otherwise."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def demand_own(self, *_: object) -> None:
        self._now_s += 10

    def clock_gettime(self, _clock: int) -> float:
        return self._now_s


Reply = Callable[[socket.socket, Frame], None]


def command(path: Path, lane: str, *more: str, start: Sequence[str] | None = None) -> list[str]:
    """The client's command line; `more` is the event, the deadline, the template and so on."""
    words = [*more, *("PreToolUse", "10", TEMPLATE)[len(more) :]]
    return [*(start or UnderTest.start), str(path), "claude", lane, *words]


def run(
    words: Sequence[str], payload: bytes = b"{}", env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command line of the client to its end."""
    variables = {"PATH": os.environ["PATH"]} if env is None else env
    return subprocess.run(
        words, input=payload, env=variables, capture_output=True, timeout=PATIENCE_S
    )


def answering(answer: bytes) -> Reply:
    """Sends this, then keeps the connection open until the client leaves."""

    def reply(connection: socket.socket, _: Frame) -> None:
        with suppress(OSError):
            connection.sendall(answer)
            connection.recv(1)

    return reply


def hanging_up_after(answer: bytes) -> Reply:
    """Sends this, then closes."""

    def reply(connection: socket.socket, _: Frame) -> None:
        with suppress(OSError):
            connection.sendall(answer)

    return reply


@contextmanager
def listening(path: Path, reply: Reply) -> Iterator[Queue[Frame]]:
    """Answers every connection to the socket so; what the clients sent comes out of the queue."""
    frames: Queue[Frame] = Queue()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(8)
        worker = threading.Thread(target=_serve, args=(listener, reply, frames))
        worker.start()
        try:
            yield frames
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            worker.join(PATIENCE_S)


def _serve(listener: socket.socket, reply: Reply, frames: Queue[Frame]) -> None:
    while True:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        with connection:
            connection.settimeout(PATIENCE_S)
            frame = _read(connection)
            frames.put(frame)
            reply(connection, frame)


def _read(connection: socket.socket) -> Frame:
    data = b""
    while b"\n\n" not in data and (part := connection.recv(1 << 16)):
        data += part
    head, _, payload = data.partition(b"\n\n")
    header = head.decode("ascii").split("\n")
    length = next((int(line[8:]) for line in header if line.startswith("length: ")), 0)
    body = bytearray(payload)
    while len(body) < length and (chunk := connection.recv(1 << 18)):
        body += chunk
    return Frame(header, bytes(body))
