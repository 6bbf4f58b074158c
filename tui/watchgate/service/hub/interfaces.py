"""The interface between the ingest listener and the hub.

The hub's needs: a runner of handlers, and the event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import anyio
import msgspec

from watchgate.agents.base import HookAnswer
from watchgate.agents.streams.stream_source import Source
from watchgate.core.dispatch.dispatch_loop import Invoke
from watchgate.core.secrets.secret_finder import SecretsByText
from watchgate.service.admission.large_texts import Prepared
from watchgate.service.hub.hook_frames import HookFrame
from watchgate.service.wire.framing import FrameHead


class HandlerPort(Protocol):
    """A runner of the handlers that the engine asks."""

    def ask(self, dispatch_id: int, invoke: Invoke) -> None:
        """Runs a handler and passes its report to `Hub.on_report`; never waits."""

    def halt(self, dispatch_id: int, handlers: frozenset[str]) -> None:
        """Ends these handlers."""


class Loop(msgspec.Struct, frozen=True):
    """The event loop, as far as a hub needs it.

    `later` calls back in a moment, `soon` as soon as it can and from any thread; `wake` is called
    when deadlines may have changed.
    """

    later: Callable[[Callable[[], None]], object]
    soon: Callable[[Callable[[], None]], object]
    wake: Callable[[], None]


class PendingReply:
    """One question of a client that may be answered once; `pid` is the peer's, 0 if not known.

    `head` is the asking frame's, for an answer that has to be made without its event; `proxy` says
    that the agent runs below the client. `secrets` are those of texts that were looked through
    before.
    """

    def __init__(
        self, number: int, pid: int, on_answer: Callable[[PendingReply], None] | None = None
    ) -> None:
        self.number = number
        self.pid = pid
        self.answer: HookAnswer | None = None
        self.request: str | None = None
        self.head: FrameHead | None = None
        self.proxy = False
        self.secrets: SecretsByText = {}
        self._answered = anyio.Event()
        self._on_answer = on_answer

    def say(self, answer: HookAnswer, request: str | None) -> None:
        """Answers the client; only the first answer counts."""
        if self.answer is not None:
            return
        self.answer, self.request = answer, request
        self._answered.set()
        if self._on_answer is not None:
            self._on_answer(self)

    async def wait(self) -> None:
        """Waits until there is an answer."""
        await self._answered.wait()


ReplyFactory = Callable[[], PendingReply]
"""Makes the pending reply of one more request on a stream of lines."""


class IngestHub(Protocol):
    """The hub, as far as the listener needs it; none of these methods waits."""

    @property
    def deciding(self) -> bool:
        """Returns whether a decision waits for the disk, and somebody for the decision."""

    def frame(self, head: FrameHead, payload: bytes, conn: PendingReply) -> None:
        """Takes a whole frame."""

    def received(self, head: FrameHead, payload: bytes, pid: int) -> HookFrame:
        """Returns a whole frame that is taken later."""

    def prepared(self, frame: HookFrame) -> HookFrame:
        """Returns the frame with all slow work done; called in a thread."""

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        """Returns a call that does the same for whole lines."""

    def ahead(self, prepared: Prepared) -> Callable[[], None]:
        """Returns a call that judges prepared calls in a thread."""

    def take(self, frame: HookFrame, conn: PendingReply) -> None:
        """Takes a frame that was received before."""

    def bad_frame(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        """Takes a frame that cannot be read."""

    def failed(self, fault: str, conn: PendingReply, head: FrameHead | None = None) -> None:
        """Notes that this program failed over the connection."""

    def turned_away(self, head: FrameHead | None, why: str, conn: PendingReply) -> None:
        """Notes that a connection is not served any further."""

    def delivered(self, conn: PendingReply, *, ok: bool) -> None:
        """Notes that the answer was written, or could not be."""

    def hung_up(self, conn: PendingReply) -> None:
        """Notes that the client went away before its answer."""

    def lines(
        self,
        chunk: bytes,
        source: Source,
        asker: ReplyFactory,
        secrets: SecretsByText | None = None,
    ) -> Iterator[None]:
        """Takes whole lines, in steps; `asker` makes the pending reply of each request among them.

        `secrets` are those of texts that were looked through before.
        """

    def source_gone(self, source: Source) -> None:
        """Notes that the last connection of a line source has ended."""

    def oversized_line(self, size_bytes: int, pid: int) -> None:
        """Notes that a line was dropped for its length."""
