"""Texts made of a pattern's own parts, again and again: what it may find hard to refuse."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

from watchgate.core.base.patterns.regex_tree import (
    Alternatives,
    Atomic,
    Lookaround,
    Node,
    One,
    RememberedCharacter,
    Repeat,
    Sequence,
)

_COMMON = "a1 /-_=.:\"'\n"


def pumped(node: Node, chars: int, seed: int) -> Iterator[str]:
    """Texts of about so many characters that begin to fit and end in what does not."""
    random = Random(seed)
    units = {sample(node, random), *(sample(part, random) for part in _repeated(node))}
    before = {"", *(front for front, _ in _fronts(node, random))}
    for unit in sorted(filter(None, units)):
        yield unit * (chars // len(unit)) + "\x00"
    for front, unit in _fronts(node, random):
        if unit:
            yield front + unit * (chars // len(unit)) + "\x00"
    for front in sorted(filter(None, before)):
        yield front * (chars // len(front)) + "\x00"


def sample(node: Node, random: Random) -> str:
    """A text that fits, but for what it says of the places around it."""
    match node:
        case One():
            return _letter(node, random)
        case RememberedCharacter() | Atomic():
            return sample(node.body, random)
        case Sequence():
            return "".join(sample(part, random) for part in node.parts)
        case Alternatives():
            return sample(random.choice(node.parts), random)
        case Repeat():
            most = node.low + 1 if node.high is None else min(node.high, node.low + 1)
            return "".join(sample(node.body, random) for _ in range(most))
        case _:
            return ""


def _letter(node: One, random: Random) -> str:
    fits = [char for char in _COMMON if node.chars >> ord(char) & 1]
    return random.choice(fits or [chr(i) for i in range(128) if node.chars >> i & 1] or ["é"])


def _repeated(node: Node) -> Iterator[Node]:
    if isinstance(node, Repeat):
        yield node.body
    for part in _parts(node):
        yield from _repeated(part)


def _fronts(node: Node, random: Random, front: str = "") -> list[tuple[str, str]]:
    """What stands before each repeat, and what is repeated."""
    found: list[tuple[str, str]] = []
    if isinstance(node, Repeat):
        found.append((front, sample(node.body, random)))
    for part in _parts(node):
        found += _fronts(part, random, front)
        if isinstance(node, Sequence):
            front += sample(part, random)
    return found


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence() | Alternatives():
            return node.parts
        case Repeat() | Atomic() | RememberedCharacter() | Lookaround():
            return (node.body,)
        case _:
            return ()
