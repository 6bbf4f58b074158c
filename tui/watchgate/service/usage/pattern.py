"""Finds the files of all places, matched by patterns; a folder is listed once it has changed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import translate
from typing import Final

from watchgate.agents.usage.base import Form, Place

State = frozenset[tuple[int, int]]
"""Where in which patterns a folder is."""

ANY_DEPTH: Final = "**"


class Patterns:
    """The patterns of one root, as `pathlib.Path.glob` takes them."""

    def __init__(self, places: Iterable[Place]) -> None:
        split_places = [(place.form, place.pattern.split("/")) for place in places]
        self._forms = [form for form, _parts in split_places]
        self._parts = [
            [None if part == ANY_DEPTH else re.compile(translate(part)).match for part in parts]
            for _form, parts in split_places
        ]
        self.root = self._closed((number, 0) for number in range(len(split_places)))

    def below(self, state: State, folder: str) -> State:
        """Returns the state of a folder in one with this state; empty: nothing can be in it."""
        states = []
        for number, at in state:
            part = self._parts[number][at]
            if part is None:
                states.append((number, at))
            elif at + 1 < len(self._parts[number]) and part(folder):
                states.append((number, at + 1))
        return self._closed(states)

    def form(self, state: State, file: str) -> Form | None:
        """Returns the form of a file in a folder with this state; None: it is no agent's."""
        for number, at in sorted(state):
            parts = self._parts[number]
            part = parts[at]
            if part is not None and at + 1 == len(parts) and part(file):
                return self._forms[number]
        return None

    def _closed(self, states: Iterable[tuple[int, int]]) -> State:
        """Adds the states that a part for any depth leads to, being no depth at all."""
        reached = set()
        for number, start in states:
            at = start
            reached.add((number, at))
            while self._parts[number][at] is None:
                at += 1
                reached.add((number, at))
        return frozenset(reached)
