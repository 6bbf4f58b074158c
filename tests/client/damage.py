"""Damage as disks, copies and power cuts do it to a file, by a seed."""

from __future__ import annotations

import random
from collections.abc import Callable

SECTOR_BYTES = 512


def flip(rng: random.Random, content: bytes) -> bytes:
    """The content with one bit of it turned."""
    changed = bytearray(content)
    changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(rng: random.Random, content: bytes) -> bytes:
    """The content up to any of its bytes."""
    return content[: rng.randrange(len(content))]


def cut_at_a_line(rng: random.Random, content: bytes) -> bytes:
    """The content up to the end of any of its lines, where a script may still be well formed."""
    ends = [at + 1 for at, byte in enumerate(content) if byte == ord("\n")] or [0]
    return content[: rng.choice(ends)]


def zeroed_sector(rng: random.Random, content: bytes) -> bytes:
    """The content with nothing but zeros in one sector."""
    first = rng.randrange(0, len(content), SECTOR_BYTES)
    end = min(first + SECTOR_BYTES, len(content))
    return content[:first] + bytes(end - first) + content[end:]


def zeroed_end(rng: random.Random, content: bytes) -> bytes:
    """The content with zeros from any byte on: it was given its size before it was written."""
    end = rng.randrange(len(content))
    return content[:end] + bytes(len(content) - end)


def other(rng: random.Random, content: bytes) -> bytes:
    """What the interpreter runs without a word, in the place of the content."""
    empty = (b"\0", b"\n", b'"""', b"import sys\n", b"#!/bin/sh\n", b"exit\n", bytes(len(content)))
    return rng.choice(empty)


WAYS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    flip,
    flip,
    flip,
    cut,
    cut_at_a_line,
    zeroed_sector,
    zeroed_end,
    other,
)


def damaged(seed: str, content: bytes) -> bytes:
    """Other content than this, by one of the ways."""
    rng = random.Random(seed)
    while True:
        changed = rng.choice(WAYS)(rng, content)
        if changed != content:
            return changed
