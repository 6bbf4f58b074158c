"""The hub's needs: a runner of handlers, and the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from watchgate.core.dispatch import Invoke


class Desk(Protocol):
    """A runner of the handlers that the engine asks."""

    def ask(self, hearing: int, invoke: Invoke) -> None:
        """Runs a handler and passes its report to `Hub.on_report`; never waits."""
        ...

    def halt(self, hearing: int, handlers: frozenset[str]) -> None:
        """Ends these handlers."""
        ...


class Loop(msgspec.Struct, frozen=True):
    """The event loop, as far as a hub needs it.

    `later` calls back in a moment, `soon` as soon as it can and from any thread; `wake` is called
    when deadlines may have changed.
    """

    later: Callable[[Callable[[], None]], object]
    soon: Callable[[Callable[[], None]], object]
    wake: Callable[[], None]
