"""Tracks the lines of a text that were not on the screen yet: a jump shows only its ends."""

from __future__ import annotations

from collections.abc import Iterable


class Unshown:
    """The lines still to be shown of one text, numbered from 0."""

    def __init__(self) -> None:
        self._layout: object = None
        self._lines: set[int] = set()

    def lay_out(self, layout: object, lines: Iterable[int]) -> None:
        """The text takes these lines; in another `layout` none of them was shown yet."""
        if layout != self._layout:
            self._layout, self._lines = layout, set(lines)

    def show(self, first: int, end: int) -> None:
        """The lines from `first` up to `end` are on the screen."""
        self._lines.difference_update(range(first, end))

    @property
    def all_shown(self) -> bool:
        """Returns whether every line was on the screen once."""
        return self._layout is not None and not self._lines

    def above(self, line: int) -> tuple[int, int] | None:
        """The first stretch above a line that was jumped over: its first and its last line."""
        missing = [number for number in self._lines if number < line]
        if not missing:
            return None
        first = last = min(missing)
        while last + 1 < line and last + 1 in self._lines:
            last += 1
        return first, last
