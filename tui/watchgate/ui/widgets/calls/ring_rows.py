"""The rows of a ring that a table shows: all of them, or those that pass a filter."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from typing import Generic, TypeVar

from watchgate.core.base.bounded import Ring

T = TypeVar("T")

NEWEST = 500
SLICE = 2_000


class RingRows(Generic[T]):
    """The ring numbers to show, oldest first, as lines 0 to `len - 1`.

    A `RingRows` belongs to one ring. With a filter, `update` looks at new rows, at the newest again
    (those still change), and at one slice of the older ones: a tick costs the same however long
    the ring is, and a filter that was just set finds the newest matches first.
    """

    def __init__(self, keep: Callable[[T], bool] | None = None) -> None:
        self._keep = keep
        self._first = self._end = 0
        self._numbers: list[int] = []
        self._next = 0
        self.searched = keep is None

    def __len__(self) -> int:
        return self._end - self._first if self._keep is None else len(self._numbers)

    def number(self, index: int) -> int:
        """Returns the ring number on a line."""
        return self._first + index if self._keep is None else self._numbers[index]

    def index(self, number: int) -> int:
        """Returns the line of a ring number, or the line where it would be."""
        if self._keep is None:
            return min(max(0, number - self._first), len(self))
        return bisect_left(self._numbers, number)

    def forget(self, first: int) -> None:
        """Drops what fell out of the ring, whose first number is `first` now."""
        self._first, self._end = max(self._first, first), max(self._end, first)
        del self._numbers[: bisect_left(self._numbers, first)]

    def update(self, ring: Ring[T]) -> None:
        """Reads the ring's changes since the last time; sets `searched` after the last row."""
        known = self._end
        self._first, self._end = ring.first, ring.end
        if self._keep is None:
            return
        self.forget(ring.first)
        newest = ring.end - NEWEST
        self._look(ring, min(known, newest) if known else newest, ring.end)
        stop = self._next or ring.end
        self._look(ring, stop - SLICE, stop)
        self._next = stop - SLICE
        if self._next <= ring.first:
            self.searched = True
            self._next = 0

    def _look(self, ring: Ring[T], start: int, stop: int) -> None:
        keep = self._keep
        start = max(start, ring.first)
        if keep is not None and start < stop:
            low, high = bisect_left(self._numbers, start), bisect_left(self._numbers, stop)
            self._numbers[low:high] = [n for n in range(start, stop) if keep(ring[n])]
