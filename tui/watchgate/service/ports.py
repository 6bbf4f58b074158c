"""What a hub needs around it: whoever runs handlers, and the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from watchgate.core.dispatch import Invoke


class Desk(Protocol):
    """Whoever runs the handlers that the engine asks."""

    def ask(self, hearing: int, invoke: Invoke) -> None:
        """Run a handler, and say what it said with `Hub.heard`; never waits."""
        ...

    def halt(self, hearing: int, handlers: frozenset[str]) -> None:
        """End these handlers."""
        ...


class Loop(msgspec.Struct, frozen=True):
    """What a hub needs of the event loop.

    `later` calls back in a moment, `soon` as soon as it can and from any thread; `wake` is called
    when deadlines may have changed.
    """

    later: Callable[[Callable[[], None]], object]
    soon: Callable[[Callable[[], None]], object]
    wake: Callable[[], None]
