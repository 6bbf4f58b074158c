"""A core that speaks the control protocol by script: what it answers is up to the test."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from watchgate.link.protocol import Hello

HELLO = Hello(watchgate="1.0", core="core-a", boot=1, seq=7, profile="guard")
GREETING = msgspec.json.encode(HELLO) + b"\n"


class Conversation:
    """The server's end of one connection."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._lines = connection.makefile("rb")

    def say(self, *lines: object) -> None:
        self.connection.sendall(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))

    def hear(self) -> dict[str, Any]:
        heard: dict[str, Any] = msgspec.json.decode(self._lines.readline())
        return heard

    def wait_for_hang_up(self) -> None:
        self._lines.read()


Script = Callable[[Conversation], object]


@contextmanager
def fake_core(path: Path, script: Script, *, greeting: bytes = GREETING) -> Iterator[None]:
    """Serves one connection with `script`; its connection closes when the script ends."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    listener.settimeout(30)

    def serve() -> None:
        connection, _ = listener.accept()
        connection.settimeout(30)
        with connection:
            connection.sendall(greeting)
            script(Conversation(connection))

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        listener.close()
