"""One pass over a text that tells whether a pattern is found, in a time in proportion to the text.

Sets of places of the automaton are worked out when they are first met and kept, so that most
characters cost one look into a table. What a pattern asks of a place (a word's edge, a look around)
is worked out for the whole text beforehand: a look ahead by a pass from its end.

- A pattern as an automaton: places in it, and which character leads from one to another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, repeat
from typing import Literal

import msgspec

from watchgate.core.base.patterns import allowance
from watchgate.core.base.patterns.pattern_cost import from_one_place
from watchgate.core.base.patterns.regex_tree import (
    Alternatives,
    Atomic,
    Backreference,
    Boundary,
    Lookaround,
    Node,
    One,
    RememberedCharacter,
    Repeat,
    Sequence,
)

MAX_PLACES = 20_000
_LONG = 65_536


class NoAutomaton(ValueError):
    """The pattern is too large, or has what no automaton can tell."""


class AutomatonPlace(msgspec.Struct):
    """A place: what leads on from it.

    With `letter`, a character of this set leads to `to`; with `condition`, nothing but that the
    condition holds; otherwise it is as good as all of `to`.
    """

    to: list[int]
    letter: int = -1
    condition: int = -1


Condition = Boundary | Lookaround


class Automaton:
    """Places 0 to n, of which 0 is where a match ends; `start` is where one begins.

    `letters` are the sets of characters, `conditions` what must hold at a place of the text.
    """

    def __init__(self, node: Node, *, backwards: bool = False) -> None:
        self.steps: list[AutomatonPlace] = [AutomatonPlace([])]
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
        made = AutomatonPlace(to)
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
            case Alternatives():
                return self._add([self._made(part, to) for part in node.parts])
            case Repeat():
                return self._repeat(node, to)
            case Lookaround() if node.test is None and not node.ahead:
                raise NoAutomaton
            case Boundary() | Lookaround():
                self.conditions.append(node)
                return self._add([to], "condition", len(self.conditions) - 1)
            case RememberedCharacter():
                return self._made(node.body, to)
            case Atomic() | Backreference():
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
    if isinstance(condition, Boundary) or not condition.ahead:
        return 1
    return from_one_place(condition.body, _LONG)


def has_one(node: Node) -> bool:
    """Tells whether an automaton can be made of the pattern; makes none."""
    return _size(node) <= MAX_PLACES


def _size(node: Node) -> int:
    match node:
        case Sequence() | Alternatives():
            return 1 + sum(map(_size, node.parts))
        case Repeat():
            times = node.low + 1 if node.high is None else node.high
            return 1 + times * (_size(node.body) + 1)
        case Lookaround():
            return 1 + _size(node.body)
        case Atomic() | Backreference():
            return MAX_PLACES + 1
        case _:
            return 1


MatchMode = Literal["search", "match", "fullmatch"]

_CHARS_A_CHECK = 2_048
_SETS_A_CHECK = 16
_MAX_SETS = 1_000
# What Python's engine may take to find all places where a condition holds.
_MAX_STEPS = 1_000_000

Key = tuple[int, str]
"""The conditions that hold at a place, one bit for each, and the character behind it."""


class _PlaceSet:
    """Places of the automaton, where each character leads, and whether a match ends at them."""

    __slots__ = ("ends", "leads", "places")

    def __init__(self, places: frozenset[int]) -> None:
        self.places = places
        self.leads: dict[Key, tuple[_PlaceSet, bool]] = {}
        self.ends: dict[int, bool] = {}


class Scanner:
    """Runs one pattern over texts."""

    def __init__(self, node: Node, *, backwards: bool = False) -> None:
        self._automaton = Automaton(node, backwards=backwards)
        self._conditions = [_Condition(each) for each in self._automaton.conditions]
        self._sets: dict[tuple[bool, frozenset[int]], _PlaceSet] = {}
        self._made = 0

    def finds(self, text: str, mode: MatchMode) -> bool:
        """Tells whether the pattern is found so; raises `Spent`."""
        anywhere, whole = mode == "search", mode == "fullmatch"
        bits = self._all_bits(text)
        keys: Iterator[Key] = zip(bits or repeat(0), text, strict=False)
        now = self._set(anywhere, frozenset((self._automaton.start,)))
        while some := list(islice(keys, _CHARS_A_CHECK)):
            allowance.check()
            for key in some:
                now, ended = now.leads.get(key) or self._lead(now, key, anywhere=anywhere)
                if ended and not whole:
                    return True
                if not now.places:
                    return False
        return self._ends(now, bits[-1] if bits else 0)

    def marks(self, text: str, bit: int, into: list[int]) -> None:
        """Sets a bit in `into` at each place of the text where the reversed pattern may end."""
        bits = self._all_bits(text)
        before = reversed(bits) if bits else repeat(0)
        keys: Iterator[Key] = zip(before, reversed(text), strict=False)
        now = self._set(True, frozenset((self._automaton.start,)))
        place = len(text)
        while some := list(islice(keys, _CHARS_A_CHECK)):
            allowance.check()
            for key in some:
                now, ended = now.leads.get(key) or self._lead(now, key, anywhere=True)
                if ended:
                    into[place] |= bit
                place -= 1
        if self._ends(now, bits[0] if bits else 0):
            into[0] |= bit

    def _lead(self, now: _PlaceSet, key: Key, *, anywhere: bool) -> tuple[_PlaceSet, bool]:
        self._made += 1
        if self._made % _SETS_A_CHECK == 0:
            allowance.check()
        bits, char = key
        reached = self._closed(now.places, bits)
        steps, letters = self._automaton.steps, self._automaton.letters
        fits: dict[int, bool] = {}
        to: set[int] = {self._automaton.start} if anywhere else set()
        for place in reached:
            letter = steps[place].letter
            if letter < 0:
                continue
            if letter not in fits:
                fits[letter] = bool(letters[letter](char))
            if fits[letter]:
                to.add(steps[place].to[0])
        lead = now.leads[key] = self._set(anywhere, frozenset(to)), 0 in reached
        return lead

    def _closed(self, places: Iterable[int], bits: int) -> set[int]:
        """All places that these are as good as, where those conditions hold."""
        steps: list[AutomatonPlace] = self._automaton.steps
        reached: set[int] = set()
        open_ = list(places)
        while open_:
            place = open_.pop()
            if place in reached:
                continue
            reached.add(place)
            step = steps[place]
            if step.letter < 0 and (step.condition < 0 or bits >> step.condition & 1):
                open_ += step.to
        return reached

    def _ends(self, now: _PlaceSet, bits: int) -> bool:
        if bits not in now.ends:
            now.ends[bits] = 0 in self._closed(now.places, bits)
        return now.ends[bits]

    def _set(self, anywhere: bool, places: frozenset[int]) -> _PlaceSet:
        key = anywhere, places
        known = self._sets.get(key)
        if known is None:
            if len(self._sets) >= _MAX_SETS:
                self._sets.clear()
            known = self._sets[key] = _PlaceSet(places)
        return known

    def _all_bits(self, text: str) -> list[int]:
        """For each place of the text and its end the conditions that hold; empty without any."""
        if not self._conditions:
            return []
        bits = [0] * (len(text) + 1)
        for number, asked in enumerate(self._conditions):
            asked.mark(text, 1 << number, bits)
        return bits


class _Condition:
    """A condition, and how it is worked out."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        self._places = condition.test().finditer if condition.test else None
        self._steps = steps_each(condition)
        self._scanner: Scanner | None = None

    def mark(self, text: str, bit: int, into: list[int]) -> None:
        """Sets the bit where it holds."""
        cheap = self._steps is not None and self._steps * len(text) <= _MAX_STEPS
        if self._places is not None and (cheap or self._steps == 1):
            for matched in self._places(text):
                into[matched.start()] |= bit
        elif isinstance(self._condition, Lookaround):
            if self._scanner is None:
                self._scanner = Scanner(self._condition.body, backwards=True)
            self._scanner.marks(text, bit, into)
            if not self._condition.wanted:
                into[:] = [bits ^ bit for bits in into]
