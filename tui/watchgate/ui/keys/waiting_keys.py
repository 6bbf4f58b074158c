"""Keys in the order they were pressed: one that opens a screen holds up those behind it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from textual.events import Key

LOOK_S = 0.001
"""The pause between two looks whether the screen has opened."""


class WaitingKeys:
    """Hands each key on once the screen that it is meant for is there."""

    def __init__(
        self,
        take: Callable[[Key | str], None],
        opened: Callable[[], bool],
        later: Callable[[float, Callable[[], None]], None],
    ) -> None:
        """Hands keys to `take` while no screen is still to be `opened`; `later` checks again."""
        self._take = take
        self._opened = opened
        self._later = later
        self._keys: deque[Key | str] = deque()
        self._looks_again = False

    def press(self, key: Key | str) -> None:
        """Adds a key, or the name of an action, behind those that wait."""
        self._keys.append(key)
        if not self._looks_again:
            self._go_on()

    def _go_on(self) -> None:
        self._looks_again = False
        while self._keys and not self._looks_again:
            if self._opened():
                self._take(self._keys.popleft())
            else:
                self._looks_again = True
                self._later(LOOK_S, self._go_on)
