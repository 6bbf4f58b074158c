"""Writes lines to a Unix socket over one connection that is kept.

A kept connection cannot tell a reader that is slow from one that hangs but by time: one that takes
nothing for 5 s is left, and what waits is offered to its successor.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import anyio

from watchgate.link.control_lines import NoCore
from watchgate.link.core_socket import check_door, why_not
from watchgate.service.identity.ancestry import credentials
from watchgate.service.sinks.delivery import Undelivered

CONNECT_S = 1.0
BLOCKED_S = 5.0
KNOCK_S = 0.02


class UnixSocket:
    """A socket of this user's own; that nobody listens there is no trouble (CW-7)."""

    at_once = 64
    mend = "let its reader read, or remove the sink"

    def __init__(
        self, path: Path, *, connect_s: float = CONNECT_S, blocked_s: float = BLOCKED_S
    ) -> None:
        self._path = path
        self._connect_s = connect_s
        self._blocked_s = blocked_s
        self._connection: socket.socket | None = None

    async def send(self, entries: Sequence[bytes]) -> None:
        """Sends the entries, connecting where needed; raises `Undelivered`."""
        sent = 0
        while sent < len(entries):
            fresh = self._connection is None
            connection = self._connection or await self._connect(sent)
            try:
                while sent < len(entries):
                    await self._write(connection, entries[sent], sent)
                    sent += 1
            except OSError as error:
                self.close()
                if fresh:
                    why = f"{self._path}: {error.strerror or error}"
                    raise Undelivered(why, then="retry", sent=sent) from error

    def close(self) -> None:
        """Ends the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _connect(self, sent: int) -> socket.socket:
        if not hasattr(socket, "AF_UNIX"):
            raise Undelivered(
                "this platform has no Unix sockets", then="drop-all", sent=sent, quiet=True
            )
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.setblocking(False)
            await self._knock(connection, sent)
            self._connection = connection
        finally:
            if self._connection is None:
                connection.close()
        return connection

    async def _knock(self, connection: socket.socket, sent: int) -> None:
        try:
            check_door(self._path)
            with anyio.move_on_after(self._connect_s) as limit:
                while not _connected(connection, self._path):  # noqa: ASYNC110 - nothing wakes us
                    await anyio.sleep(KNOCK_S)
            if limit.cancelled_caught:
                why = f"{self._path}: its queue of connections is full, its reader may hang"
                raise Undelivered(why, then="retry", sent=sent)
            uid = credentials(connection).uid
        except NoCore as fault:
            raise self._unreached(fault.why, fault.__cause__, sent) from fault
        except OSError as error:
            raise self._unreached(why_not(error), error, sent) from error
        if uid != os.geteuid():
            why = f"{self._path}: user {uid} listens there, not you"
            raise Undelivered(why, then="drop-all", sent=sent)

    def _unreached(self, why: str, cause: BaseException | None, sent: int) -> Undelivered:
        absent = isinstance(cause, FileNotFoundError | ConnectionRefusedError)
        return Undelivered(f"{self._path}: {why}", then="drop-all", sent=sent, quiet=absent)

    async def _write(self, connection: socket.socket, entry: bytes, sent: int) -> None:
        left = memoryview(entry)
        while left:
            try:
                left = left[connection.send(left) :]
            except BlockingIOError:
                with anyio.move_on_after(self._blocked_s) as limit:
                    await anyio.wait_writable(connection)
                if limit.cancelled_caught:
                    self.close()
                    why = f"{self._path}: its reader took nothing for {self._blocked_s:g} s"
                    raise Undelivered(why, then="retry", sent=sent) from None


def _connected(connection: socket.socket, path: Path) -> bool:
    # A full queue of connections is a reader that is late, not one that is absent.
    with suppress(BlockingIOError):
        connection.connect(str(path))
        return True
    return False
