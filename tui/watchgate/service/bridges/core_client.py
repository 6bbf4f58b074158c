"""A client of the core for our own proxies, taps and tools: hook frames over the ingest socket.

It does in a long-lived process what the hook client does in one of its own: the same checks of the
socket, the same off switch, the same limits.

Forwarding of observed messages to the core, in order, beside the stream they come from.

The stream never waits for the core: what cannot be sent in time waits in a bounded queue, the
oldest giving way to the newest, and without a core it is let go.
"""

from __future__ import annotations

import os
from collections import deque
from pathlib import Path

import anyio
import msgspec
from anyio.abc import SocketStream

from watchgate.agents.proxied import ObservedMessage
from watchgate.core.base.clock import Clock
from watchgate.core.model.events import Lane
from watchgate.link.control_lines import NoCore
from watchgate.link.receiving import receive
from watchgate.link.socket_door import check_own_door, why_not
from watchgate.service.system import off_switch
from watchgate.service.wire.framing import MAX_PAYLOAD_BYTES

OBSERVER_BUDGET_S = 0.15
ANSWER_LIMIT_BYTES = 8 * 1024 * 1024
_CHUNK_BYTES = 64 * 1024
_ENVIRONMENT = (
    *("TMUX_PANE", "ZELLIJ_PANE_ID", "KITTY_WINDOW_ID", "WEZTERM_PANE", "SSH_TTY", "TERM_PROGRAM"),
    *("CLAUDECODE", "CLAUDE_PID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED"),
)
_GONE = (anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError)


class Unanswered(Exception):
    """The core gave no answer; the message says why."""


class IngestClient(msgspec.Struct, frozen=True, kw_only=True):
    """The way to the core that serves `ingest`.

    `proxy` says that the agent runs below this process, not above it.
    """

    ingest: Path
    off: Path
    clock: Clock
    agent: str
    proxy: bool

    async def ask(self, observed: ObservedMessage, lane: Lane, deadline_s: float) -> bytes:
        """Returns the answer in the agent's own format; empty where the core has none.

        Raises `Unanswered` when nobody could be asked, or the answer did not come in time.
        """
        if off_switch.read_switch(self.off, self.clock.now()) is not None:
            await self.tell(observed, off=True)
            raise Unanswered("the gate is switched off")
        if len(observed.payload) > MAX_PAYLOAD_BYTES:
            raise Unanswered(f"no payload over {MAX_PAYLOAD_BYTES} bytes is judged")
        frame = self._frame(observed, lane, f"deadline_ms: {deadline_s * 1000:.0f}\n")
        try:
            with anyio.fail_after(deadline_s):
                async with await self._connected() as stream:
                    await stream.send(frame)
                    return await _answer(stream)
        except TimeoutError:
            raise Unanswered("no answer came before the deadline") from None
        except (*_GONE, OSError):
            raise Unanswered("the core went away before it answered") from None
        except NoCore as none:
            raise Unanswered(f"no core could be asked: {none.why}") from None

    async def tell(
        self, observed: ObservedMessage, *, off: bool = False, within_s: float = OBSERVER_BUDGET_S
    ) -> bool:
        """Sends an observation to be recorded; returns whether the core took it."""
        observed, dropped = _bounded(observed)
        more = ("off: 1\n" if off else "") + (f"dropped: {dropped}\n" if dropped else "")
        try:
            with anyio.fail_after(within_s):
                async with await self._connected() as stream:
                    await stream.send(self._frame(observed, Lane.OBSERVE, more))
                    # It closes when it has read all; so what is told next comes after this.
                    await receive(stream, 1)
        except anyio.EndOfStream:
            return True
        except (TimeoutError, OSError, NoCore, *_GONE):
            return False
        return True

    async def _connected(self) -> SocketStream:
        check_own_door(self.ingest)
        try:
            return await anyio.connect_unix(self.ingest)
        except OSError as error:
            raise NoCore(self.ingest, why_not(error)) from error

    def _frame(self, observed: ObservedMessage, lane: Lane, more: str) -> bytes:
        event = observed.native if _fits_header(observed.native) else ""
        lines = [f"watchgate/1 {self.agent} {lane}", f"length: {len(observed.payload)}"]
        lines += [f"event: {event}"] if event else []
        lines += ["proxy: 1"] if self.proxy else []
        for name in _ENVIRONMENT:
            value = os.environ.get(name, "")
            if value and len(value) <= 256 and _fits_header(value):
                lines.append(f"env.{name}: {value}")
        return ("\n".join(lines) + f"\n{more}\n").encode("ascii") + observed.payload


def _bounded(observed: ObservedMessage) -> tuple[ObservedMessage, int]:
    size = len(observed.payload)
    return (
        (observed, 0)
        if size <= MAX_PAYLOAD_BYTES
        else (ObservedMessage(observed.native, b""), size)
    )


def _fits_header(value: str) -> bool:
    return value.isascii() and value.isprintable() and len(value) <= 512


async def _answer(stream: SocketStream) -> bytes:
    data = b""
    while b"\n" not in data:
        if len(data) > 32:
            raise Unanswered("the core gave an answer of another form")
        data += await receive(stream, _CHUNK_BYTES)
    head, _, body = data.partition(b"\n")
    try:
        _, size, _ = (int(part) for part in head.split(b" "))
    except ValueError:
        raise Unanswered("the core gave an answer of another form") from None
    if not 0 <= size <= ANSWER_LIMIT_BYTES:
        raise Unanswered("the core gave an answer of another form")
    while len(body) < size:
        body += await receive(stream, _CHUNK_BYTES)
    return body[:size]


LIMIT_BYTES = 8 * 1024 * 1024
TAKEN_S = 10.0
"""Seconds that a busy core may take to read one observation. Nobody waits for that meanwhile."""

AGAIN_S = 2.0
CATCH_UP_S = 1.0


class EventForwarder:
    """Sends the core one observation after the other; `run` does it."""

    def __init__(self, core: IngestClient) -> None:
        self._core = core
        self._waiting: deque[ObservedMessage] = deque()
        self._bytes = 0
        self._more = anyio.Event()
        self._idle = anyio.Event()
        self._idle.set()
        self.lost = 0

    def add(self, observed: ObservedMessage) -> None:
        """Queues an observation."""
        self._waiting.append(observed)
        self._bytes += len(observed.payload)
        while self._bytes > LIMIT_BYTES and len(self._waiting) > 1:
            self._bytes -= len(self._waiting.popleft().payload)
            self.lost += 1
        self._idle = anyio.Event() if self._idle.is_set() else self._idle
        self._more.set()

    async def run(self) -> None:
        """Sends the queue until cancelled."""
        while True:
            while self._waiting:
                observed = self._waiting.popleft()
                self._bytes -= len(observed.payload)
                if not await self._core.tell(observed, within_s=TAKEN_S):
                    self.lost += 1
                    await self._without_core()
            self._idle.set()
            self._more = anyio.Event()
            await self._more.wait()

    async def caught_up(self) -> None:
        """Returns once the queue is sent, or a moment has passed: the next request relies on it."""
        with anyio.move_on_after(CATCH_UP_S):
            await self._idle.wait()

    async def _without_core(self) -> None:
        """Drops the queue that nobody takes, and waits before the next try."""
        self.lost += len(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        self._idle.set()
        await anyio.sleep(AGAIN_S)
