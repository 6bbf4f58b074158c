"""One pass over a text that tells whether a pattern is found, in a time in proportion to the text.

Sets of places of the automaton are worked out when they are first met and kept, so that most
characters cost one look into a table. What a pattern asks of a place (a word's edge, a look around)
is worked out for the whole text beforehand: a look ahead by a pass from its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, repeat
from typing import Literal

from watchgate.core.patterns import allowance
from watchgate.core.patterns.automaton import Automaton, Condition, Step, steps_each
from watchgate.core.patterns.tree import Look, Node

How = Literal["search", "match", "fullmatch"]

_CHARS_A_CHECK = 2_048
_SETS_A_CHECK = 16
_MAX_SETS = 1_000
# What Python's engine may take to find all places where a condition holds.
_MAX_STEPS = 1_000_000

Key = tuple[int, str]
"""The conditions that hold at a place, one bit for each, and the character behind it."""


class _Set:
    """Places of the automaton, where each character leads, and whether a match ends at them."""

    __slots__ = ("ends", "leads", "places")

    def __init__(self, places: frozenset[int]) -> None:
        self.places = places
        self.leads: dict[Key, tuple[_Set, bool]] = {}
        self.ends: dict[int, bool] = {}


class Scanner:
    """Runs one pattern over texts."""

    def __init__(self, node: Node, *, backwards: bool = False) -> None:
        self._automaton = Automaton(node, backwards=backwards)
        self._conditions = [_Asked(each) for each in self._automaton.conditions]
        self._sets: dict[tuple[bool, frozenset[int]], _Set] = {}
        self._made = 0

    def finds(self, text: str, mode: How) -> bool:
        """Tell whether the pattern is found so; raises `Spent`."""
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
        """Set a bit for each place of the text where the pattern, made backwards, may end."""
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

    def _lead(self, now: _Set, key: Key, *, anywhere: bool) -> tuple[_Set, bool]:
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
        steps: list[Step] = self._automaton.steps
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

    def _ends(self, now: _Set, bits: int) -> bool:
        if bits not in now.ends:
            now.ends[bits] = 0 in self._closed(now.places, bits)
        return now.ends[bits]

    def _set(self, anywhere: bool, places: frozenset[int]) -> _Set:
        key = anywhere, places
        known = self._sets.get(key)
        if known is None:
            if len(self._sets) >= _MAX_SETS:
                self._sets.clear()
            known = self._sets[key] = _Set(places)
        return known

    def _all_bits(self, text: str) -> list[int]:
        """For each place of the text and its end the conditions that hold; empty without any."""
        if not self._conditions:
            return []
        bits = [0] * (len(text) + 1)
        for number, asked in enumerate(self._conditions):
            asked.mark(text, 1 << number, bits)
        return bits


class _Asked:
    """A condition, and how it is worked out."""

    def __init__(self, condition: Condition) -> None:
        self._condition = condition
        self._places = condition.test().finditer if condition.test else None
        self._steps = steps_each(condition)
        self._scanner: Scanner | None = None

    def mark(self, text: str, bit: int, into: list[int]) -> None:
        """Set the bit where it holds."""
        cheap = self._steps is not None and self._steps * len(text) <= _MAX_STEPS
        if self._places is not None and (cheap or self._steps == 1):
            for matched in self._places(text):
                into[matched.start()] |= bit
        elif isinstance(self._condition, Look):
            if self._scanner is None:
                self._scanner = Scanner(self._condition.body, backwards=True)
            self._scanner.marks(text, bit, into)
            if not self._condition.wanted:
                into[:] = [bits ^ bit for bits in into]
