"""Batching of observed events: each waits a moment for others, and all go on together.

An event runs through much code. Taken one by one, each step finds the processor's caches full of
the others; several that take each step together cost a third less (bench/core.py).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

MOMENT_S = 0.02
MOST = 32
MOST_BYTES = 256 * 1024


class Gathering(Generic[T]):
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
        if len(self._items) >= MOST or self._size_bytes >= MOST_BYTES:
            self.flush()
        elif len(self._items) == 1:
            self._later(self.flush)

    def flush(self) -> None:
        """Passes on the waiting items, if there are any."""
        if self._items:
            items, self._items, self._size_bytes = self._items, [], 0
            self._give(items)
