r"""Patterns in which a character comes again that a group remembers: `s(.)a\1`.

No automaton remembers anything. But of one character there are few in a text, and with each of them
written into the pattern, in place of the group and of what repeats it, one can be made.
"""

from __future__ import annotations

from collections.abc import Iterable

from watchgate.core.patterns.tree import (
    Again,
    Choice,
    Cut,
    Held,
    Look,
    Node,
    One,
    Repeat,
    Sequence,
    only,
)


def held(node: Node) -> One | None:
    """Return what the group may hold that a backreference repeats; None where that is not all."""
    groups = _repeated(node)
    group = groups.pop() if len(groups) == 1 else 0
    holding = _holding(node, group)
    if len(holding) != 1 or not _is_open(node, group):
        return None
    return holding[0]


def written(node: Node, chars: Iterable[str]) -> Node:
    """The pattern with each of these characters in turn for the group and what repeats it."""
    group = next(iter(_repeated(node)))
    return _opened(node, group, [only(char) for char in chars])


def _parts(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence() | Choice():
            return node.parts
        case Repeat() | Cut() | Look():
            return (node.body,)
        case _:
            return ()


def _repeated(node: Node) -> set[int]:
    if isinstance(node, Again):
        return {node.group}
    return {group for part in _parts(node) for group in _repeated(part)}


def _holding(node: Node, group: int) -> list[One]:
    if isinstance(node, Held) and node.group == group:
        return [node.body]
    return [one for part in _parts(node) for one in _holding(part, group)]


def _is_open(node: Node, group: int) -> bool:
    """Return whether every repetition of the group follows it in one sequence."""
    match node:
        case Sequence():
            for place, part in enumerate(node.parts):
                if isinstance(part, Held) and part.group == group:
                    return not any(_repeated(each) for each in node.parts[:place])
            return all(_is_open(part, group) for part in node.parts)
        case Choice():
            return all(_is_open(part, group) for part in node.parts)
        case Repeat():
            return _is_open(node.body, group)
        case _:
            return not _repeated(node)


def _opened(node: Node, group: int, chars: list[One]) -> Node:
    """The node with a choice of the characters in the sequence that holds the group."""
    match node:
        case Sequence() if any(isinstance(p, Held) and p.group == group for p in node.parts):
            return Choice(tuple(_written(node, group, char) for char in chars))
        case Sequence():
            return Sequence(tuple(_opened(part, group, chars) for part in node.parts))
        case Choice():
            return Choice(tuple(_opened(part, group, chars) for part in node.parts))
        case Repeat():
            return Repeat(_opened(node.body, group, chars), node.low, node.high)
        case _:
            return node


def _written(node: Node, group: int, char: One) -> Node:
    match node:
        case Held() if node.group == group:
            return char
        case Again():
            return char
        case Sequence():
            return Sequence(tuple(_written(part, group, char) for part in node.parts))
        case Choice():
            return Choice(tuple(_written(part, group, char) for part in node.parts))
        case Repeat():
            return Repeat(_written(node.body, group, char), node.low, node.high)
        case Look() if _repeated(node):
            return Look(_written(node.body, group, char), node.ahead, node.wanted, None)
        case _:
            return node
