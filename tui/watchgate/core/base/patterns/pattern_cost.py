"""A bound on the steps that Python's engine takes for a pattern, whatever the text.

The engine tries one way after another. What it may try is a product: of each repeat, the lengths at
which what follows may go on. Where a repeated character is none that may follow, that is one length
and not all, which is how most patterns are written and why most are fast. The bound errs upwards.
"""

from __future__ import annotations

import msgspec

from watchgate.core.base.patterns.regex_tree import (
    ANY,
    OTHER,
    WORD,
    Alternatives,
    Atomic,
    Backreference,
    Boundary,
    Lookaround,
    Never,
    Node,
    One,
    RememberedCharacter,
    Repeat,
    Sequence,
)

ENDLESS = 10**15
"""Stands for every bound that is out of reach."""

Cost = tuple[int, int]
"""In how many ways a node may be left, and the steps to try them all."""

# A repeat of this many characters at most is taken for one with an end of its own.
_BOUNDED = 512
_LONG = 8_192


class _Size(msgspec.Struct, frozen=True):
    """The length of a text, and how far a repeat without end may get in it."""

    chars: int
    run: int

    def max_repeats(self, repeat: Repeat) -> int:
        """Returns the largest number of times that a part may repeat within the text."""
        return self.run if repeat.high is None else min(repeat.high, self.chars)


def from_one_place(node: Node, chars: int) -> int:
    """The steps to try a pattern at one place of a text of this many characters."""
    return _cost(node, _Size(chars, chars), 0)[1]


def of_a_start(node: Node, chars: int) -> int:
    """The steps that each place takes at which a search of such a text may begin."""
    # What ends in a repeat has been found, and a search goes on behind it.
    body = _without_end(node)
    apart = _guard_characters(body)
    size = _Size(chars, chars)
    if apart is not None and _runs_within(body, apart) and _is_linear(body):
        # No match begins inside of a run of these characters, and a match runs through few.
        size = _Size(min(chars, _BOUNDED), 4)
    return _cost(body, size, 0)[1]


def from_every_place(node: Node, chars: int) -> int:
    """Returns the steps to try the pattern at every place, as a search that finds nothing does."""
    starts = 1 if starts_only(node) else chars + 1
    return min(of_a_start(node, chars) * starts + chars, ENDLESS)


def _is_linear(node: Node) -> bool:
    return from_one_place(node, 2 * _LONG) < 3 * from_one_place(node, _LONG) < ENDLESS


def first(node: Node) -> tuple[int, bool]:
    """The characters that it may begin with, and whether it may stand for nothing."""
    match node:
        case One():
            start = node.chars, False
        case Sequence():
            start = _first_of(node.parts)
        case Alternatives():
            start = 0, False
            for more, empty in map(first, node.parts):
                start = start[0] | more, start[1] or empty
        case Repeat():
            chars, empty = first(node.body)
            start = chars, empty or node.low == 0
        case Boundary() if node.ends:
            start = 1 << ord("\n") if node.newline else 0, False
        case Atomic() | RememberedCharacter():
            start = first(node.body)
        case Lookaround() if node.ahead and node.wanted:
            start = first(node.body)
        case Never():
            start = 0, False
        case _:
            start = ANY, True
    return start


def _first_of(parts: tuple[Node, ...]) -> tuple[int, bool]:
    chars = 0
    for part in parts:
        more, empty = first(part)
        chars |= more
        if not empty:
            return chars, False
    return chars, True


def _cost(node: Node, size: _Size, follow: int) -> Cost:
    """Returns the cost of a node that a character of `follow` must stand behind (0: none need)."""
    match node:
        case One() | RememberedCharacter() | Boundary() | Never():
            return 1, 1
        case Sequence():
            return _sequence(node.parts, size, follow)
        case Alternatives():
            return _choice(node.parts, size, follow)
        case Repeat():
            return _repeat(node, size, follow)
        case Atomic() | Lookaround():
            return 1, _cost(node.body, size, 0)[1]
        case Backreference():
            return 1, size.chars


def _sequence(parts: tuple[Node, ...], size: _Size, follow: int) -> Cost:
    behind: list[int] = []
    for part in reversed(parts):
        behind.append(follow)
        begins, empty = first(part)
        follow = begins | follow if empty else begins
    ways, steps = 1, 1
    for part, then in zip(parts, reversed(behind), strict=True):
        more_ways, more_steps = _cost(part, size, then)
        steps = min(steps + ways * more_steps, ENDLESS)
        ways = min(ways * more_ways, ENDLESS)
    return ways, steps


def _choice(parts: tuple[Node, ...], size: _Size, follow: int) -> Cost:
    """The engine is done with a part at once where the text does not go on as it begins."""
    known = 0
    for part in parts:
        begins, empty = first(part)
        if empty or begins & known:
            break
        known |= begins
    else:
        costs = [_cost(part, size, follow) for part in parts]
        return max(ways for ways, _ in costs), len(parts) + max(steps for _, steps in costs)
    always = (0, len(parts))
    chains: list[tuple[str, Cost]] = []
    worst = (0, 0)
    for begin, part in sorted(((head(part), part) for part in parts), key=lambda each: each[0]):
        cost = _cost(part, size, follow)
        if not begin:
            always = _both(always, cost)
            continue
        # Of those with a beginning, a text can only go on with those that are one within another.
        while chains and not begin.startswith(chains[-1][0]):
            chains.pop()
        chains.append((begin, _both(chains[-1][1], cost) if chains else cost))
        worst = max(worst[0], chains[-1][1][0]), max(worst[1], chains[-1][1][1])
    return _both(always, worst)


def _both(one: Cost, other: Cost) -> Cost:
    return min(one[0] + other[0], ENDLESS), min(one[1] + other[1], ENDLESS)


def head(node: Node, *, cased: bool = False) -> str:
    """The characters of ASCII that it begins with for certain; unless `cased`, in either case."""
    written = ""
    for part in node.parts if isinstance(node, Sequence) else (node,):
        if isinstance(part, Boundary | Lookaround) and not written and cased:
            continue
        if not isinstance(part, One):
            break
        letter = LETTERS.get(part.chars) or ("" if cased else EITHER.get(part.chars, ""))
        if not letter:
            break
        written += letter
    return written


LETTERS = {1 << code: chr(code) for code in range(128)}
EITHER = {
    1 << ord(letter) | 1 << ord(letter.upper()) | wide: letter
    for letter in "abcdefghijklmnopqrstuvwxyz"
    for wide in ((OTHER,) if letter in "ksi" else (0,))
}


def _repeat(node: Repeat, size: _Size, follow: int) -> Cost:
    max_repeats = size.max_repeats(node)
    begins, empty = first(node.body)
    exits = max(max_repeats - node.low + 1, 1) if begins & follow or empty else 1
    if isinstance(node.body, One):
        return exits, max_repeats + 1
    if max_repeats <= 1:
        ways, steps = _cost(node.body, size, follow)
        return ways + exits - 1 if not begins & follow else ways + 1, steps + 1
    again = begins | follow
    ways, steps = _cost(node.body, size, again)
    if ways == 1:
        # Each time takes what the one before left, unless it looks beyond its own end.
        once = _cost(node.body, _Size(min(size.chars, _BOUNDED), 1), again)[1]
        shared = steps * max_repeats if _looks(node.body) else once * (size.chars + max_repeats)
        return exits, min(shared, steps * max_repeats, ENDLESS) + 1
    total = 1
    for _ in range(max_repeats):
        total *= ways
        if total >= ENDLESS:
            return ENDLESS, ENDLESS
    return min(total * exits, ENDLESS), min(total * steps * 2, ENDLESS)


def _looks(node: Node) -> bool:
    match node:
        case Lookaround() | Backreference():
            return True
        case Sequence() | Alternatives():
            return any(map(_looks, node.parts))
        case Repeat() | Atomic():
            return _looks(node.body)
        case _:
            return False


def starts_only(node: Node) -> bool:
    """Tells whether it can only be found where the text begins."""
    match node:
        case Boundary():
            return node.starts
        case Sequence():
            return bool(node.parts) and starts_only(node.parts[0])
        case Alternatives():
            return all(map(starts_only, node.parts))
        case _:
            return False


def _without_end(node: Node) -> Node:
    """The pattern with no more of its last repeat than it needs."""
    if isinstance(node, Sequence) and node.parts:
        return Sequence((*node.parts[:-1], _without_end(node.parts[-1])))
    if isinstance(node, Repeat) and isinstance(node.body, One):
        return Repeat(node.body, node.low, node.low)
    return node


def _guard_characters(node: Node) -> int | None:
    """The characters that must not stand before it; None if it may stand anywhere."""
    if not isinstance(node, Sequence) or len(node.parts) < 2:
        return None
    guard = node.parts[0]
    if isinstance(guard, Lookaround) and not guard.ahead and not guard.wanted:
        return guard.body.chars if isinstance(guard.body, One) else None
    begins, empty = _first_of(node.parts[1:])
    if isinstance(guard, Boundary) and guard.word and not empty and not begins & ~WORD:
        return WORD
    return None


def _runs_within(node: Node, apart: int) -> bool:
    """Tells whether all that it repeats without end are such characters."""
    match node:
        case Repeat():
            if node.high is not None and node.high <= _BOUNDED:
                return _runs_within(node.body, apart)
            return isinstance(node.body, One) and not node.body.chars & ~apart
        case Sequence() | Alternatives():
            return all(_runs_within(part, apart) for part in node.parts)
        case Atomic() | Lookaround():
            return _runs_within(node.body, apart)
        case Backreference():
            return False
        case _:
            return True
