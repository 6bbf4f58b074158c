"""Requests that a proxy holds are ended in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from watchgate.agents.proxied.wire import Held, Seen

Said = tuple[tuple[Held, bytes], ...]


class Holding:
    """The requests that are held now; each ends once."""

    def __init__(self, cancelled: Callable[[Held], bytes]) -> None:
        """Takes `cancelled`, which makes the line that tells the agent that nobody will decide."""
        self._cancelled = cancelled
        self._open: dict[int, Held] = {}
        self._made = 0

    def hold(self, observed: Seen, id: bytes, scope: str, kind: str) -> Held:
        """Holds one more request."""
        self._made += 1
        held = self._open[self._made] = Held(self._made, observed, id, scope, kind)
        return held

    def end(self, held: Held) -> bool:
        """Ends one; returns False when it had ended before."""
        return self._open.pop(held.key, None) is not None

    def of_id(self, id: bytes) -> Held | None:
        """Returns the request that the agent knows by this id."""
        return next((held for held in self._open.values() if held.id == id), None)

    def cancel(self, scope: str | None = None) -> Said:
        """Ends those of one session, or all of them; returns each with the agent's line."""
        return self.end_all(
            held for held in list(self._open.values()) if scope is None or held.scope == scope
        )

    def end_all(self, ending: Iterable[Held]) -> Said:
        """Ends these as cancelled; returns each with the agent's line."""
        return tuple((held, self._cancelled(held)) for held in ending if self.end(held))
