"""A pattern as an automaton: places in it, and which character leads from one to another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

from watchgate.core.patterns.cost import from_one_place
from watchgate.core.patterns.tree import (
    Again,
    Choice,
    Cut,
    Held,
    Look,
    Node,
    One,
    Place,
    Repeat,
    Sequence,
)

MAX_PLACES = 20_000
_LONG = 65_536


class NoAutomaton(ValueError):
    """The pattern is too large, or has what no automaton can tell."""


class Step(msgspec.Struct):
    """A place: what leads on from it.

    With `letter`, a character of this set leads to `to`; with `condition`, nothing but that the
    condition holds; otherwise it is as good as all of `to`.
    """

    to: list[int]
    letter: int = -1
    condition: int = -1


Condition = Place | Look


class Automaton:
    """Places 0 to n, of which 0 is where a match ends; `start` is where one begins.

    `letters` are the sets of characters, `conditions` what must hold at a place of the text.
    """

    def __init__(self, node: Node, *, backwards: bool = False) -> None:
        self.steps: list[Step] = [Step([])]
        self.letters: list[Callable[[str], object]] = []
        self.conditions: list[Condition] = []
        self._backwards = backwards
        self._known: dict[str, int] = {}
        self.start = self._made(node, 0)

    def _add(
        self, to: list[int], kind: Literal["letter", "condition", ""] = "", n: int = -1
    ) -> int:
        if len(self.steps) >= MAX_PLACES:
            raise NoAutomaton
        made = Step(to)
        if kind == "letter":
            made.letter = n
        elif kind == "condition":
            made.condition = n
        self.steps.append(made)
        return len(self.steps) - 1

    def _made(self, node: Node, to: int) -> int:
        """The place where a node begins that leads to `to`."""
        match node:
            case One():
                return self._add([to], "letter", self._letter(node))
            case Sequence():
                for part in node.parts if self._backwards else reversed(node.parts):
                    to = self._made(part, to)
                return to
            case Choice():
                return self._add([self._made(part, to) for part in node.parts])
            case Repeat():
                return self._repeat(node, to)
            case Look() if node.test is None and not node.ahead:
                raise NoAutomaton
            case Place() | Look():
                self.conditions.append(node)
                return self._add([to], "condition", len(self.conditions) - 1)
            case Held():
                return self._made(node.body, to)
            case Cut() | Again():
                raise NoAutomaton
            case _:
                return self._add([])

    def _letter(self, node: One) -> int:
        if node.written not in self._known:
            self._known[node.written] = len(self.letters)
            self.letters.append(node.test())
        return self._known[node.written]

    def _repeat(self, node: Repeat, to: int) -> int:
        if node.high is None:
            loop = self._add([])
            self.steps[loop].to = [self._made(node.body, loop), to]
            begin = loop
        else:
            begin = to
            for _ in range(node.high - node.low):
                begin = self._add([self._made(node.body, begin), to])
        for _ in range(node.low):
            begin = self._made(node.body, begin)
        return begin


def steps_each(condition: Condition) -> int | None:
    """The steps in which Python's engine tries the condition at a place; None if it cannot."""
    if condition.test is None:
        return None
    if isinstance(condition, Place) or not condition.ahead:
        return 1
    return from_one_place(condition.body, _LONG)


def has_one(node: Node) -> bool:
    """Tell whether an automaton can be made of the pattern; makes none."""
    return _size(node) <= MAX_PLACES


def _size(node: Node) -> int:
    match node:
        case Sequence() | Choice():
            return 1 + sum(map(_size, node.parts))
        case Repeat():
            times = node.low + 1 if node.high is None else node.high
            return 1 + times * (_size(node.body) + 1)
        case Look():
            return 1 + _size(node.body)
        case Cut() | Again():
            return MAX_PLACES + 1
        case _:
            return 1
