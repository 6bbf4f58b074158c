"""The line protocols between an agent and the program that drives it, as a proxy reads them.

Lines of an agent and of the editor that drives it come in, messages for the core and requests to
hold go out. A `Wire` is one protocol's part, pure: it remembers earlier lines. Held requests end in
the order in which they came. It imports the base of the agents, and the core's model and base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, Protocol

import msgspec

Side = Literal["agent", "editor"]


class ObservedMessage(msgspec.Struct, frozen=True):
    """A message for the core to record: the event's name and the payload that the adapter reads."""

    native: str
    payload: bytes


class HeldRequest(msgspec.Struct, frozen=True):
    """A request of the agent's that is not passed on while the core is asked.

    `key` tells it from the others that are held, `scope` is the session it belongs to.
    """

    key: int
    observed: ObservedMessage
    id: bytes
    scope: str
    kind: str


class Step(msgspec.Struct, frozen=True):
    """The consequences of one line.

    `passes` says that it goes on to the other side. `ended` are the held requests that are over
    with it, each with the line that the agent is told (empty: none). `agent_lines` are further
    lines for the agent, in the place of what cannot be read and so does not pass.
    """

    passes: bool = True
    observed: tuple[ObservedMessage, ...] = ()
    hold: HeldRequest | None = None
    ended: tuple[tuple[HeldRequest, bytes], ...] = ()
    agent_lines: tuple[bytes, ...] = ()


PASS = Step()


class Wire(Protocol):
    """One protocol between an editor and an agent."""

    @property
    def agent(self) -> str:
        """The adapter that reads what is recorded and asked."""
        ...

    def step(self, line: bytes, side: Side) -> Step:
        """Returns the step for a whole line that this side sent."""
        ...

    def unread(self, start: bytes, side: Side, why: str) -> Step:
        """Returns the step for a line that cannot be read; `start` is its beginning."""
        ...

    def settle(self, held: HeldRequest, answer: bytes) -> bytes | None:
        """Returns the line that tells the agent the core's answer; None: the request is passed on.

        Either way it is held no more; empty when it had ended before. `answer` is what the adapter
        printed, nothing where the core said nothing.
        """
        ...

    def withdraw(self) -> tuple[tuple[HeldRequest, bytes], ...]:
        """Ends everything that is held, as the editor does when it leaves."""
        ...

    def rest(self) -> tuple[ObservedMessage, ...]:
        """Returns the messages that were gathered and not recorded yet."""
        ...


CancelledRequests = tuple[tuple[HeldRequest, bytes], ...]


class HeldRequests:
    """The requests that are held now; each ends once."""

    def __init__(self, cancelled: Callable[[HeldRequest], bytes]) -> None:
        """Takes `cancelled`, which makes the line that tells the agent that nobody will decide."""
        self._cancelled = cancelled
        self._open: dict[int, HeldRequest] = {}
        self._made = 0

    def hold(self, observed: ObservedMessage, id: bytes, scope: str, kind: str) -> HeldRequest:
        """Holds one more request."""
        self._made += 1
        held = self._open[self._made] = HeldRequest(self._made, observed, id, scope, kind)
        return held

    def end(self, held: HeldRequest) -> bool:
        """Ends one; returns False when it had ended before."""
        return self._open.pop(held.key, None) is not None

    def of_id(self, id: bytes) -> HeldRequest | None:
        """Returns the request that the agent knows by this id."""
        return next((held for held in self._open.values() if held.id == id), None)

    def cancel(self, scope: str | None = None) -> CancelledRequests:
        """Ends those of one session, or all of them; returns each with the agent's line."""
        return self.end_all(
            held for held in list(self._open.values()) if scope is None or held.scope == scope
        )

    def end_all(self, ending: Iterable[HeldRequest]) -> CancelledRequests:
        """Ends these as cancelled; returns each with the agent's line."""
        return tuple((held, self._cancelled(held)) for held in ending if self.end(held))
