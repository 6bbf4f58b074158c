"""The requests of an agent that a proxy holds, in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from watchgate.agents.proxied.wire import Held, Seen

Said = tuple[tuple[Held, bytes], ...]


class Holding:
    """What is held now; each request ends once."""

    def __init__(self, cancelled: Callable[[Held], bytes]) -> None:
        """`cancelled` makes the line that tells the agent that nobody will decide."""
        self._cancelled = cancelled
        self._open: dict[int, Held] = {}
        self._made = 0

    def hold(self, seen: Seen, id: bytes, scope: str, kind: str) -> Held:
        """Hold one more."""
        self._made += 1
        held = self._open[self._made] = Held(self._made, seen, id, scope, kind)
        return held

    def end(self, held: Held) -> bool:
        """Let one go; False when it was let go before."""
        return self._open.pop(held.key, None) is not None

    def of_id(self, id: bytes) -> Held | None:
        """The one that the agent knows by this id."""
        return next((held for held in self._open.values() if held.id == id), None)

    def cancel(self, scope: str | None = None) -> Said:
        """End those of one session, or all of them, with what the agent is told."""
        return self.told(
            held for held in list(self._open.values()) if scope is None or held.scope == scope
        )

    def told(self, ending: Iterable[Held]) -> Said:
        """End these as cancelled."""
        return tuple((held, self._cancelled(held)) for held in ending if self.end(held))
