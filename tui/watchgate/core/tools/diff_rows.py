"""The rows of a difference: their line numbers on both sides, and what stayed folded away.

- The words of a line that differ from those of the line that it replaces.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate, groupby
from operator import itemgetter
from typing import Literal

import msgspec

from watchgate.core.base.text import Span
from watchgate.core.model.assessment import Finding

LONGEST_LINE = 400
"""Characters above which two lines are not compared word by word."""

MIN_SIMILARITY = 0.4
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
    if not longest or same / longest < MIN_SIMILARITY:
        return (), ()
    # Where each word begins, and where the last one ends.
    old_at, new_at = (list(accumulate(map(len, words), initial=0)) for words in (before, after))
    changed = [places for kind, *places in matcher.get_opcodes() if kind != "equal"]
    gone = tuple((old_at[a], old_at[b]) for a, b, _, _ in changed if a < b)
    come = tuple((new_at[c], new_at[d]) for _, _, c, d in changed if c < d)
    return gone, come


Sign = Literal["+", "-", " "]
Change = tuple[Sign, str]

CONTEXT = 3
"""Unchanged lines that are kept beside a change."""

FEWEST_FOLDED = 4
COMPARED_PAIRS = 60
"""Pairs of lines of one difference that are compared word by word, so that none takes seconds."""


class DiffRow(msgspec.Struct, frozen=True):
    """One line: its numbers in the old and the new text, `words` that differ from its other side.

    What is only said about the lines around it (how many are folded) has the sign `@`.
    """

    sign: Literal["+", "-", " ", "@"]
    text: str
    old: int | None = None
    new: int | None = None
    words: tuple[Span, ...] = ()
    marks: tuple[Finding, ...] = ()


def numbered(changes: Sequence[Change], old_at: int = 1, new_at: int = 1) -> list[DiffRow]:
    """The lines with their numbers, counted from those of the first on either side."""
    rows: list[DiffRow] = []
    old, new = old_at, new_at
    for sign, text in changes:
        in_old, in_new = sign != "+", sign != "-"
        rows.append(DiffRow(sign, text, old if in_old else None, new if in_new else None))
        old, new = old + in_old, new + in_new
    return _worded(rows)


def runs(rows: Sequence[DiffRow]) -> list[tuple[list[DiffRow], list[DiffRow]]]:
    """Pairs what was taken away with what came in its place; any other row is a run of its own."""
    pairs: list[tuple[list[DiffRow], list[DiffRow]]] = []
    is_open = False
    for row in rows:
        if row.sign in (" ", "@"):
            pairs.append(([row], [row]))
            is_open = False
            continue
        if not is_open or (row.sign == "-" and pairs[-1][1]):
            pairs.append(([], []))
            is_open = True
        pairs[-1][row.sign == "+"].append(row)
    return pairs


def folded(rows: Sequence[DiffRow]) -> list[DiffRow]:
    """The rows without what stayed the same far from any change: a row tells how many those are."""
    near = [False] * len(rows)
    for at, row in enumerate(rows):
        if row.sign != " ":
            for place in range(max(0, at - CONTEXT), min(len(rows), at + CONTEXT + 1)):
                near[place] = True
    if not any(near):
        return list(rows)
    shown_rows: list[DiffRow] = []
    for is_near, group in groupby(zip(near, rows, strict=True), key=itemgetter(0)):
        part = [row for _, row in group]
        if not is_near and len(part) >= FEWEST_FOLDED:
            part = [DiffRow("@", f"{len(part):,} lines unchanged")]
        shown_rows += part
    return shown_rows


def _worded(rows: list[DiffRow]) -> list[DiffRow]:
    """The rows, those of a pair with the words that differ between them."""
    pairs = [
        pair
        for old, new in runs(rows)
        if old and new and old[0].sign == "-"
        for pair in zip(old, new, strict=False)
    ]
    words: dict[int, tuple[Span, ...]] = {}
    for old_row, new_row in pairs[:COMPARED_PAIRS]:
        words[id(old_row)], words[id(new_row)] = changed_words(old_row.text, new_row.text)
    return [
        msgspec.structs.replace(row, words=words[id(row)]) if words.get(id(row)) else row
        for row in rows
    ]
