"""What asks a core, decides and looks on in these tests: plain sockets that outlive it.

Nothing here fails when the core dies: what was heard until then is kept, and that is the point.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec

from tests.e2e.programs import bash

WAIT_S = 60.0


class Gone(Exception):
    """The core died before it answered."""


class Hook:
    """A hook client with one call; `heard` is what its agent was told, empty without an answer."""

    def __init__(self, ingest: Path, command: str, session: str) -> None:
        self.command = command
        self.heard = ""
        payload = msgspec.json.encode(
            bash(command, f"call of {command}", session) | {"hook_event_name": "PreToolUse"}
        )
        head = f"watchgate/1 claude gate\nevent: PreToolUse\nlength: {len(payload)}\n\n"
        self._socket = _connected(ingest)
        try:
            self._socket.sendall(head.encode() + payload)
        except OSError:
            self._socket.close()

    def listen(self) -> None:
        """Reads to the end, which comes with the answer or with the core's death."""
        data = b""
        try:
            while chunk := self._socket.recv(65_536):
                data += chunk
        except OSError:
            pass  # it was killed with something of ours unread
        self._socket.close()
        first, _, rest = data.partition(b"\n")
        sizes = [int(part) for part in first.split()]
        # An answer that is not whole is none: the client denies then.
        if len(sizes) == 3 and len(rest) == sizes[1] + sizes[2]:
            said = msgspec.json.decode(rest[: sizes[1]])
            self.heard = said["hookSpecificOutput"]["permissionDecision"]


class Control:
    """A control client. Raises `Gone` from whatever it does with a dead core."""

    def __init__(self, path: Path) -> None:
        self._socket = _connected(path)
        self._file = self._socket.makefile("rb")
        self._asked = 0
        try:
            self._line()
        except Gone:
            self.__exit__()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        self._file.close()
        self._socket.close()

    def ask(self, verb: str, **fields: Any) -> dict[str, Any]:
        """The answer to one request: what was done, or with `refused` why not."""
        number = self.send(verb, **fields)
        return self.answer(number)

    def send(self, verb: str, **fields: Any) -> int:
        """Sends a request and does not wait."""
        self._asked += 1
        line = msgspec.json.encode({"id": self._asked, "verb": verb, **fields}) + b"\n"
        try:
            self._socket.sendall(line)
        except OSError:
            raise Gone from None
        return self._asked

    def answer(self, number: int) -> dict[str, Any]:
        """The answer to the request that was sent as this one."""
        while (line := self._line()).get("id") != number:
            pass
        found: dict[str, Any] = line if "refused" in line else line.get("ok", {})
        return found

    def pushed(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next record that is shown to this client and is the `wanted` one."""
        while True:
            record: dict[str, Any] | None = self._line().get("record")
            if record is not None and wanted(record):
                return record

    def wait_for_the_end(self) -> None:
        """Returns when the core has ended this connection."""
        with suppress(Gone):
            while True:
                self._line()

    def _line(self) -> dict[str, Any]:
        try:
            line = self._file.readline()
        except OSError:
            raise Gone from None
        if not line.endswith(b"\n"):
            raise Gone
        found: dict[str, Any] = msgspec.json.decode(line)
        return found


def _connected(path: Path) -> socket.socket:
    """A connection, or a socket that says at its first use that there is none."""
    found = socket.socket(socket.AF_UNIX)
    found.settimeout(WAIT_S)
    try:
        found.connect(str(path))
    except OSError:
        found.close()
    return found
