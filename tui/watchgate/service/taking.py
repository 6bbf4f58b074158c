"""The interface between the ingest listener and the hub."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

import anyio

from watchgate.agents.base import Answer
from watchgate.agents.streams.source import Source
from watchgate.core.secrets.finding import Found
from watchgate.service.admission.ahead import Prepared
from watchgate.service.frames import Frame
from watchgate.service.framing import Head


class Waiting:
    """One question of a client that may be answered once; `pid` is the peer's, 0 if not known.

    `head` is the asking frame's, for an answer that has to be made without its event; `proxy` says
    that the agent runs below the client. `secrets` are those of texts that were looked through
    before.
    """

    def __init__(
        self, number: int, pid: int, on_answer: Callable[[Waiting], None] | None = None
    ) -> None:
        self.number = number
        self.pid = pid
        self.answer: Answer | None = None
        self.request: str | None = None
        self.head: Head | None = None
        self.proxy = False
        self.secrets: Found = {}
        self._answered = anyio.Event()
        self._on_answer = on_answer

    def say(self, answer: Answer, request: str | None) -> None:
        """Answers the client; only the first answer counts."""
        if self.answer is not None:
            return
        self.answer, self.request = answer, request
        self._answered.set()
        if self._on_answer is not None:
            self._on_answer(self)

    async def wait(self) -> None:
        """Returns when there is an answer."""
        await self._answered.wait()


Asker = Callable[[], Waiting]
"""Makes the pending reply of one more request on a stream of lines."""


class Hub(Protocol):
    """The hub, as far as the listener needs it; none of these methods waits."""

    @property
    def deciding(self) -> bool:
        """Returns whether a decision waits for the disk, and somebody for the decision."""
        ...

    def frame(self, head: Head, payload: bytes, conn: Waiting) -> None:
        """Takes a whole frame."""
        ...

    def received(self, head: Head, payload: bytes, pid: int) -> Frame:
        """Returns a whole frame that is taken later."""
        ...

    def prepared(self, frame: Frame) -> Frame:
        """Returns the frame with all slow work done; called in a thread."""
        ...

    def lines_prepared(self, chunk: bytes, source: Source) -> Callable[[], Prepared]:
        """Returns a call that does the same for whole lines."""
        ...

    def ahead(self, prepared: Prepared) -> Callable[[], None]:
        """Returns a call that judges prepared calls in a thread."""
        ...

    def take(self, frame: Frame, conn: Waiting) -> None:
        """Takes a frame that was received before."""
        ...

    def bad_frame(self, head: Head | None, why: str, conn: Waiting) -> None:
        """Takes a frame that cannot be read."""
        ...

    def failed(self, fault: str, conn: Waiting, head: Head | None = None) -> None:
        """Notes that this program failed over the connection."""
        ...

    def turned_away(self, head: Head | None, why: str, conn: Waiting) -> None:
        """Notes that a connection is not served any further."""
        ...

    def delivered(self, conn: Waiting, *, ok: bool) -> None:
        """Notes that the answer was written, or could not be."""
        ...

    def hung_up(self, conn: Waiting) -> None:
        """Notes that the client went away before its answer."""
        ...

    def lines(
        self, chunk: bytes, source: Source, asker: Asker, secrets: Found | None = None
    ) -> Iterator[None]:
        """Takes whole lines, in steps; `asker` makes the pending reply of each request among them.

        `secrets` are those of texts that were looked through before.
        """
        ...

    def source_gone(self, source: Source) -> None:
        """Notes that the last connection of a line source has ended."""
        ...

    def oversized_line(self, size_bytes: int, pid: int) -> None:
        """Notes that a line was dropped for its length."""
        ...
