"""How much of everything one exploration covers.

Covered, in the full form all at once: three calls (two equal ones of one session, one of another
session on a relay) on four connections, two consoles that decide on anything they ever saw, an
allow once and for the session, the disk that confirms, refuses or is slow, each deadline noticed at
once or late, clients that leave or fail, an agent that goes on by itself, consoles that leave, a
core that stops. The suite explores smaller worlds, each with some of these and all of them in one;
that an agent runs what a gate still holds is in the smaller ones alone.

Not covered here: edited requests, handlers, questions, policy rules that allow, pauses, grants that
end by the clock, sessions that end (the state machines in `tests/core` reach those at random), and
the sockets and the journal below the engine (`tests/crash`).
"""

from __future__ import annotations

from typing import Final, Literal

import msgspec

from tests.core.gate.exploration.cast import ASKS

What = Literal[
    "asks",
    "hangs up",
    "fails",
    "ran it",
    "allow",
    "allow for the session",
    "deny",
    "handback",
    "written",
    "not written",
    "time passes",
    "expire",
    "a console leaves",
    "the core stops",
]


class Scope(msgspec.Struct, frozen=True, kw_only=True):
    """One bounded world, explored whole.

    `asked` have asked at its beginning, `conns` may ask, `ran` are the connections whose call an
    agent may run by itself, `without` what does not happen in it.
    """

    conns: tuple[int, ...] = tuple(ASKS)
    asked: tuple[int, ...] = ()
    ran: tuple[int, ...] = (4,)
    without: frozenset[What] = frozenset()
    unattended: Literal["hold", "deny"] = "hold"


SUITE: Final[dict[str, Scope]] = {
    "four connections wait": Scope(
        asked=(1, 2, 3, 4),
        without=frozenset({"fails", "hangs up", "handback", "a console leaves"}),
    ),
    "three calls wait, clients leave": Scope(
        conns=(1, 3, 4),
        asked=(1, 3, 4),
        without=frozenset({"fails", "handback", "a console leaves"}),
    ),
    "two equal calls come when they will": Scope(
        conns=(1, 2, 3), ran=(), without=frozenset({"fails", "a console leaves"})
    ),
    "the last console leaves": Scope(conns=(1, 4), ran=(1, 4), unattended="deny"),
    "consoles leave, and calls go on": Scope(
        conns=(1, 4), asked=(1, 4), without=frozenset({"fails", "handback"})
    ),
    "a call comes twice": Scope(conns=(1, 2), ran=(1,), unattended="deny"),
}
"""What the suite has time for; every kind of move is in one of them."""

FULL: Final[dict[str, Scope]] = {
    "everything": Scope(),
    "everything, and nobody may look on": Scope(unattended="deny"),
}
"""Minutes of computing; `WATCHGATE_MODEL=full` asks for them."""
