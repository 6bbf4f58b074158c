"""Jump labels: every line that can be jumped to gets a letter for one key press."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product

import msgspec


class Jump(msgspec.Struct, frozen=True):
    """A place to jump to: the cell of its letter, and the action that goes there.

    `of` is what the line stands for: a letter stays with that while the lines move.
    """

    x: int
    y: int
    go: Callable[[], None]
    of: Hashable


LETTERS = "asdfghjklqwertuiopzxcvbnm"
"""The home row first."""

ONE_LETTER = 20
"""Up to so many lines a label is one letter; the others are for lines that come meanwhile."""


class Labels:
    """The label of each line: a label is never given to another line.

    Labels are all of one length, so that no label is the beginning of another.
    """

    def __init__(self, count: int) -> None:
        """Makes labels for `count` lines at first."""
        pairs = ["".join(pair) for pair in product(LETTERS, repeat=2)]
        self._free = iter(LETTERS if count <= ONE_LETTER else pairs)
        self._of: dict[Hashable, str] = {}

    def of(self, line: Hashable) -> str:
        """Returns the label of a line, a new one for a new line; empty when there is none left."""
        if line not in self._of:
            self._of[line] = next(self._free, "")
        return self._of[line]
