"""A program that drives an agent through one of our proxies, and a console in front of the core."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from queue import Queue
from threading import Thread
from typing import Any

from tests.e2e.programs import WAIT_S, Core


class Driver:
    """The editor's side of a proxy."""

    def __init__(self, command: str, argv: Sequence[str]) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "watchgate", command, "--", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._lines: Queue[bytes] = Queue()
        Thread(target=self._read, daemon=True).start()

    def send(self, message: dict[str, Any]) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def line(self) -> dict[str, Any]:
        """The next line that came through; empty at the end."""
        found: dict[str, Any] = json.loads(self._lines.get(timeout=WAIT_S) or b"{}")
        return found

    def answer(self, id: Any) -> dict[str, Any]:
        """The response with this id, or the request, and what came before is skipped."""
        while (line := self.line()) and line.get("id") != id:
            pass
        return line

    def end(self) -> int:
        """Closes its input and returns its exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.process.wait(timeout=WAIT_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        try:
            for line in self.process.stdout:
                self._lines.put(line)
        except ValueError:
            return  # closed while the test ends
        self._lines.put(b"")


class Console:
    """An attached console that has just seen a key: somebody is there."""

    def __init__(self, core: Core) -> None:
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.connect(str(core.runtime / "control.sock"))
        self._file = self._socket.makefile("rwb")
        self._call(1, "attach")
        self._call(2, "hello")

    def close(self) -> None:
        self._file.close()
        self._socket.close()

    def _call(self, id: int, verb: str) -> None:
        self._file.write(json.dumps({"id": id, "verb": verb}).encode() + b"\n")
        self._file.flush()
        while json.loads(self._file.readline()).get("id") != id:
            pass
