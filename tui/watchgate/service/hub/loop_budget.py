"""The share of the event loop's time that streams of lines may take while others want it too.

Streams can fill a core, and an approval takes a dozen turns of the loop: accept, read, ask, decide,
answer. So observed lines are taken in short slices, each followed by several turns in which none of
them is, and they let a decision on its way to the disk go first: an approval waits for a few
slices, however many streams there are and however much each has sent.

Observed events wait a moment for each other and go on together, which costs a third less
(bench/core.py): taken one by one, each step finds the processor's caches full of the others.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import Generic, TypeVar

import anyio
import anyio.lowlevel

from watchgate.core.secrets.secret_finder import SecretsByText

T = TypeVar("T")

_OVER = object()
MOMENT_S = 0.02
MAX_ITEMS = 32
MAX_BYTES = 256 * 1024
PIECE_BYTES = 16 * 1024
SLICE_S = 0.001
TURNS = 8
"""Turns of the loop that others have after each slice; an idle one is over in microseconds."""

PATIENCE = 10
"""Slices that a decision's writer has for itself; a slow disk must not stop what is observed."""


class Batcher(Generic[T]):
    """Passes items on in the order in which they came, at the latest when `later` calls back.

    `give` gets 32 items at a time, fewer once they are 256 KiB together: nobody else has a turn
    meanwhile, and a waiting item takes memory.
    """

    def __init__(
        self, give: Callable[[list[T]], None], later: Callable[[Callable[[], None]], object]
    ) -> None:
        self._give = give
        self._later = later
        self._items: list[T] = []
        self._size_bytes = 0

    def add(self, item: T, size_bytes: int) -> None:
        """Takes one more item."""
        self._items.append(item)
        self._size_bytes += size_bytes
        if len(self._items) >= MAX_ITEMS or self._size_bytes >= MAX_BYTES:
            self.flush()
        elif len(self._items) == 1:
            self._later(self.flush)

    def flush(self) -> None:
        """Passes on the waiting items, if there are any."""
        if self._items:
            items, self._items, self._size_bytes = self._items, [], 0
            self._give(items)


class LoopBudget:
    """The slice that all streams of one listener share, and their queue for it.

    `deciding` returns whether a decision is on its way to the disk.
    """

    def __init__(self, deciding: Callable[[], bool]) -> None:
        self._deciding = deciding
        self._spent_s = 0.0
        self._first = anyio.Lock(fast_acquire=True)
        """Held by the stream that goes on next, as long as its lines last; others queue for it."""

    async def take(
        self,
        read: Callable[[], bytes | None],
        hand: Callable[[bytes, SecretsByText], Iterator[None]],
        look: Callable[[bytes], Awaitable[SecretsByText] | None] = lambda _lines: None,
    ) -> bool:
        """Reads whole lines when it is our turn and hands them over, some at a time, step by step.

        False where `read` had none to give yet. Nobody reads before its turn: what waits stays in
        the socket, and what was read is still in the processor's caches. While lines are looked
        through elsewhere it is the turn of others; `look` is None where they need not be.
        """
        queued = self._first.locked() or self._is_over()
        if queued:
            await self._first.acquire()
        try:
            lines = read()
            for piece in _pieces(lines or b""):
                secrets: SecretsByText = {}
                if (looking := look(piece)) is not None:
                    if queued:
                        self._first.release()
                        queued = False
                    secrets = await looking
                steps, over = hand(piece, secrets), False
                while not over:
                    if self._is_over():
                        if not queued:
                            await self._first.acquire()
                            queued = True
                        await self._let_others()
                    began_s = anyio.current_time()
                    try:
                        over = next(steps, _OVER) is _OVER
                    finally:
                        self._spent_s += anyio.current_time() - began_s
        finally:
            if queued:
                self._first.release()
        return lines is not None

    def _is_over(self) -> bool:
        return self._spent_s >= SLICE_S or self._deciding()

    async def _let_others(self) -> None:
        for _ in range(TURNS):
            await anyio.lowlevel.checkpoint()
        for _ in range(PATIENCE):
            if not self._deciding():
                break
            await anyio.sleep(SLICE_S)
        self._spent_s = 0.0


def _pieces(lines: bytes) -> Iterator[bytes]:
    """Yields the same lines, some at a time."""
    start = 0
    while start < len(lines):
        end = lines.find(b"\n", start + PIECE_BYTES) + 1 or len(lines)
        yield lines[start:end]
        start = end
