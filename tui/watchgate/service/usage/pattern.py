"""Which files below a folder belong to an agent: patterns of a tree, matched a level at a time."""

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
        found = [(place.form, place.pattern.split("/")) for place in places]
        self._forms = [form for form, _parts in found]
        self._parts = [
            [None if part == ANY_DEPTH else re.compile(translate(part)).match for part in parts]
            for _form, parts in found
        ]
        self.root = self._closed((number, 0) for number in range(len(found)))

    def below(self, state: State, folder: str) -> State:
        """The state of a folder in one with this state; empty: nothing can be in it."""
        found = []
        for number, at in state:
            part = self._parts[number][at]
            if part is None:
                found.append((number, at))
            elif at + 1 < len(self._parts[number]) and part(folder):
                found.append((number, at + 1))
        return self._closed(found)

    def form(self, state: State, file: str) -> Form | None:
        """How a file in a folder with this state is read; None: it is no agent's."""
        for number, at in sorted(state):
            parts = self._parts[number]
            part = parts[at]
            if part is not None and at + 1 == len(parts) and part(file):
                return self._forms[number]
        return None

    def _closed(self, states: Iterable[tuple[int, int]]) -> State:
        """With those that a part for any depth leads to, being no depth at all."""
        found = set()
        for number, start in states:
            at = start
            found.add((number, at))
            while self._parts[number][at] is None:
                at += 1
                found.add((number, at))
        return frozenset(found)
