"""What a line proxy must know of a protocol: which lines pass, which are held, what is told.

A proxy stands between a program that drives an agent (the editor) and the agent, and reads what
both say line by line. A `Wire` is one protocol's part of it, pure: it remembers what earlier lines
told, and says what is to be done with the next one.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

Side = Literal["agent", "editor"]


class Seen(msgspec.Struct, frozen=True):
    """What the core is to record: the event's name and the payload that the adapter reads."""

    native: str
    payload: bytes


class Held(msgspec.Struct, frozen=True):
    """A request of the agent's that is not passed on while the core is asked.

    `key` tells it from the others that are held, `scope` is the session it belongs to.
    """

    key: int
    seen: Seen
    id: bytes
    scope: str
    kind: str


class Step(msgspec.Struct, frozen=True):
    """What follows from one line.

    `passes` says that it goes on to the other side. `ended` are the held requests that are over
    with it, each with the line that the agent is told (empty: none). `told` are further lines that
    the agent is told, in the place of what cannot be read and so does not pass.
    """

    passes: bool = True
    seen: tuple[Seen, ...] = ()
    hold: Held | None = None
    ended: tuple[tuple[Held, bytes], ...] = ()
    told: tuple[bytes, ...] = ()


PASS = Step()


class Wire(Protocol):
    """One protocol between an editor and an agent."""

    @property
    def agent(self) -> str:
        """The adapter that reads what is recorded and asked."""
        ...

    def step(self, line: bytes, side: Side) -> Step:
        """What to do with a whole line that this side sent."""
        ...

    def unread(self, start: bytes, side: Side, why: str) -> Step:
        """What to do with a line that cannot be read, of which this is the beginning."""
        ...

    def settle(self, held: Held, answer: bytes) -> bytes | None:
        """The line that tells the agent the core's answer; None: the request is passed on.

        Either way it is held no more; empty when it had ended before. `answer` is what the adapter
        printed, nothing where the core said nothing.
        """
        ...

    def withdraw(self) -> tuple[tuple[Held, bytes], ...]:
        """End everything that is held, as the editor does when it leaves."""
        ...

    def rest(self) -> tuple[Seen, ...]:
        """What was gathered and not told yet."""
        ...
