"""The line protocols between an agent and the program that drives it, as a proxy reads them.

A proxy stands between a program that drives an agent (the editor) and the agent, and reads what
both say line by line. A `Wire` is one protocol's part of it, pure: it remembers earlier lines,
and says what is to be done with the next one.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

Side = Literal["agent", "editor"]


class Seen(msgspec.Struct, frozen=True):
    """A message for the core to record: the event's name and the payload that the adapter reads."""

    native: str
    payload: bytes


class Held(msgspec.Struct, frozen=True):
    """A request of the agent's that is not passed on while the core is asked.

    `key` tells it from the others that are held, `scope` is the session it belongs to.
    """

    key: int
    observed: Seen
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
    observed: tuple[Seen, ...] = ()
    hold: Held | None = None
    ended: tuple[tuple[Held, bytes], ...] = ()
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

    def settle(self, held: Held, answer: bytes) -> bytes | None:
        """Returns the line that tells the agent the core's answer; None: the request is passed on.

        Either way it is held no more; empty when it had ended before. `answer` is what the adapter
        printed, nothing where the core said nothing.
        """
        ...

    def withdraw(self) -> tuple[tuple[Held, bytes], ...]:
        """Ends everything that is held, as the editor does when it leaves."""
        ...

    def rest(self) -> tuple[Seen, ...]:
        """Returns what was gathered and not recorded yet."""
        ...
