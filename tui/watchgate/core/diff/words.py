"""The words of a line that differ from those of the line that it replaces."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

from watchgate.core.text import Span

LONGEST_LINE = 400
"""Characters above which two lines are not compared word by word."""

LEAST_ALIKE = 0.4
"""Lines that have less in common are two other lines, not one that was changed."""

_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """The stretches of both lines that the other has not; none where they are not alike."""
    if max(len(old), len(new)) > LONGEST_LINE:
        return (), ()
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    same = sum(
        len(word)
        for block in matcher.get_matching_blocks()
        for word in before[block.a : block.a + block.size]
        if not word.isspace()
    )
    longest = max(len(old.replace(" ", "")), len(new.replace(" ", "")))
    if not longest or same / longest < LEAST_ALIKE:
        return (), ()
    starts_old, starts_new = _starts(before), _starts(after)
    gone: list[Span] = []
    come: list[Span] = []
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind != "equal":
            gone.append((starts_old[a], starts_old[b]))
            come.append((starts_new[c], starts_new[d]))
    return _real(gone), _real(come)


def _starts(words: list[str]) -> list[int]:
    """Return where each word begins, and where the last one ends."""
    starts = [0]
    for word in words:
        starts.append(starts[-1] + len(word))
    return starts


def _real(spans: list[Span]) -> tuple[Span, ...]:
    return tuple(span for span in spans if span[0] < span[1])
