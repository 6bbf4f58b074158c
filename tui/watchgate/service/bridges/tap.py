"""A second copy of a stream for the core, made while the stream passes through unchanged.

Whoever reads the stream must not notice: every byte is copied as it comes, and what the core does
not take in time waits in a bounded buffer, the oldest lines giving way to the newest.
"""

from __future__ import annotations

import os
import select
import socket
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path

import msgspec

from watchgate.link.control_lines import NoCore
from watchgate.link.socket_door import check_door, why_not
from watchgate.service.system.line_cutting import LineSplitter
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

CHUNK_BYTES = 64 * 1024
LIMIT_BYTES = 8 * 1024 * 1024
FAREWELL_S = 2.0
MEND = "The stream is copied on but not recorded. Start a core with watchgate serve"


class Tap:
    """Copies one stream.

    Args:
        agent: The agent whose stream it is.
        tell: Says on stderr what was not recorded, each cause once.
        cwd: The stream's folder, where its lines name none.
        no_gate: The agent has no gate on purpose.
        limit_bytes: The buffer for what the core has not taken yet.
    """

    def __init__(
        self,
        agent: str,
        tell: Callable[[str], None],
        *,
        cwd: str = "",
        no_gate: bool = False,
        limit_bytes: int = LIMIT_BYTES,
    ) -> None:
        self._agent = agent
        self._cwd = cwd
        self._no_gate = no_gate
        self._tell = tell
        self._limit_bytes = limit_bytes
        self._lines = LineSplitter(MAX_PAYLOAD_BYTES)
        self._waiting: deque[tuple[bytes, int]] = deque()
        self._waiting_bytes = 0
        self._sending = memoryview(b"")
        self._core: socket.socket | None = None
        self._dropped = self._unreported = 0

    def connect(self, path: Path) -> None:
        """Connects to the core; without one it says so, and the copying goes on."""
        core = socket.socket(socket.AF_UNIX)
        core.setblocking(False)
        try:
            check_door(path)
            core.connect(os.fspath(path))
        except (OSError, NoCore) as fault:
            core.close()
            why = fault.why if isinstance(fault, NoCore) else why_not(fault)
            self._tell(f"no core takes the stream in: {why}. {MEND}")
            return
        self._core = core
        self._wait_in_line(self._hello(), 0)

    def copy(self, source: int, sink: int) -> None:
        """Copies from one descriptor to the other until the end; raises `BrokenPipeError`."""
        try:
            while self._readable(source):
                data = os.read(source, CHUNK_BYTES)
                if not data:
                    break
                _write(sink, data)
                self._forward(data)
        finally:
            self._farewell()

    def _readable(self, source: int) -> bool:
        """Waits for the source, and sends meanwhile what the core takes."""
        while True:
            look = select.poll()
            look.register(source, select.POLLIN)
            if self._core is not None and self._has_more:
                look.register(self._core, select.POLLOUT)
            ready = dict(look.poll())
            if self._core is not None and self._core.fileno() in ready:
                self._send()
            if source in ready:
                return True

    @property
    def _has_more(self) -> bool:
        return bool(self._sending or self._waiting)

    def _forward(self, data: bytes) -> None:
        whole, too_long = self._lines.feed(data)
        self._count(1 if too_long else 0)
        if whole:
            self._wait_in_line(whole, whole.count(b"\n"))
            self._send()

    def _wait_in_line(self, piece: bytes, lines: int) -> None:
        if self._core is None:
            self._count(lines)
            return
        self._waiting.append((piece, lines))
        self._waiting_bytes += len(piece)
        while self._waiting_bytes > self._limit_bytes and len(self._waiting) > 1:
            oldest, many = self._waiting.popleft()
            self._waiting_bytes -= len(oldest)
            self._count(many)

    def _count(self, lines: int) -> None:
        self._dropped += lines
        self._unreported += lines

    def _send(self) -> None:
        while self._core is not None and self._has_more:
            if not self._sending:
                piece, _ = self._waiting.popleft()
                self._waiting_bytes -= len(piece)
                if self._unreported:
                    # Told where they are missing; a line begins here.
                    piece, self._unreported = self._hello(self._unreported) + piece, 0
                self._sending = memoryview(piece)
            try:
                self._sending = self._sending[self._core.send(self._sending) :]
            except BlockingIOError:
                return
            except OSError as fault:
                self._lost(why_not(fault))

    def _lost(self, why: str) -> None:
        if self._core is not None:
            self._core.close()
            self._core = None
            self._count(
                sum(lines for _, lines in self._waiting) + bytes(self._sending).count(b"\n")
            )
            self._waiting.clear()
            self._sending = memoryview(b"")
            self._tell(f"the core went away ({why}). {MEND}")

    def _farewell(self) -> None:
        """Gives the core a moment for the rest, and reports what it did not get."""
        if rest := self._lines.rest():
            self._wait_in_line(rest + b"\n", 1)
        if self._unreported:
            self._wait_in_line(b"", 0)
        end_s = time.monotonic() + FAREWELL_S
        while self._core is not None:
            self._send()
            if not self._has_more:
                break
            left_s = end_s - time.monotonic()
            if left_s <= 0:
                self._lost("it takes nothing more")
                break
            look = select.poll()
            look.register(self._core, select.POLLOUT)
            look.poll(left_s * 1000)
        if self._core is not None:
            self._core.close()
        if self._dropped:
            self._tell(f"{self._dropped} lines were copied but not recorded")

    def _hello(self, dropped: int = 0) -> bytes:
        """Returns our own line: the stream's agent and folder, and how many lines are missing."""
        folder = {"cwd": self._cwd} if self._cwd else {}
        missing = {"dropped": dropped} if dropped else {}
        intent = {"no_gate": True} if self._no_gate else {}
        fields = {"watchgate": 1, "tap": self._agent, **folder, **intent, **missing}
        return msgspec.json.encode(fields) + b"\n"


def own_folder() -> str:
    """Returns this process's folder; empty where it is gone or has no name in text."""
    try:
        folder = str(Path.cwd())
        folder.encode()
    except (OSError, UnicodeEncodeError):
        return ""
    return folder


def _write(sink: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(sink, left) :]
        except BlockingIOError:
            look = select.poll()
            look.register(sink, select.POLLOUT)
            look.poll()
