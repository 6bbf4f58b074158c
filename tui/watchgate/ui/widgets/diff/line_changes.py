"""The editor before an allow: the call's text, then its changes and the core's assessment."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

Sign = Literal["+", "-", " "]


def line_changes(before: str, after: str) -> Iterator[tuple[Sign, int, str]]:
    """Yields the lines of both texts in order: sign, offset of the line in its text, the line."""
    old, new = list(_lines(before)), list(_lines(after))
    matcher = SequenceMatcher(None, [line for _, line in old], [line for _, line in new], False)
    for what, i, k, m, n in matcher.get_opcodes():
        if what == "equal":
            yield from ((" ", *each) for each in new[m:n])
        else:
            yield from (("-", *each) for each in old[i:k])
            yield from (("+", *each) for each in new[m:n])


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1
