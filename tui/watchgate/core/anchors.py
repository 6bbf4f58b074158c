"""Anchors: the number and hash of a record, kept where whoever can write the journal cannot."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

import msgspec

from watchgate.core.chain import Head, Problem

_FORM = re.compile(r"([1-9][0-9]{0,18}):([0-9a-f]{64})")


class Compared(msgspec.Struct, frozen=True):
    """The comparison of anchors with a chain: the first fault, and those too old to be compared."""

    problem: Problem | None
    older: tuple[Head, ...]


def anchor_of(text: str) -> Head:
    """The anchor that a text is; raises `ValueError`."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no anchor: give the SEQ:HASH that `watchgate audit anchor` printed"
        )
    return Head(int(match[1]), match[2])


def anchor_text(head: Head) -> str:
    """The text that stands for the end of a chain."""
    return f"{head.seq}:{head.hash}"


def compared(
    anchors: Iterable[Head], start: Head, end: int, hash_of: Callable[[int], str | None]
) -> Compared:
    """Hold a chain that follows on `start` and has its last record at `end` against anchors."""
    problem: Problem | None = None
    older = []
    for anchor in sorted(anchors, key=lambda each: each.seq):
        if anchor.seq < start.seq:
            older.append(anchor)
        elif problem is None:
            known = start.hash if anchor.seq == start.seq else hash_of(anchor.seq)
            problem = _fault(anchor, known, end)
    return Compared(problem, tuple(older))


def _fault(anchor: Head, known: str | None, end: int) -> Problem | None:
    if known == anchor.hash:
        return None
    if known is None:
        return Problem(
            min(anchor.seq, end + 1),
            f"record {anchor.seq} is missing: an anchor names it, the last one is record {end}",
        )
    return Problem(
        anchor.seq,
        f"record {anchor.seq} has another hash than its anchor says: "
        "it, or what stands before it, was written anew",
    )
