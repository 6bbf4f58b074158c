"""Who takes part: four connections that ask about three calls, and two consoles that decide.

Connections 1 and 2 carry the same call, 3 an equal one of the same session, and 4 another session's
question on a relay, which silence hands back. They wait for different times, so that each deadline
comes by itself and the second connection brings that of the first forward.
"""

from __future__ import annotations

from typing import Final

from tests.core.builders import permission, post, pre, shell
from watchgate.core.model.events import Event

_EQUAL: Final = "medium x"
_OTHER: Final = shell("high y", "c")

ASKS: Final[dict[int, Event]] = {
    1: pre(shell(_EQUAL, "a"), deadline_s=65),
    2: pre(shell(_EQUAL, "a"), deadline_s=35),
    3: pre(shell(_EQUAL, "b"), deadline_s=95),
    4: permission(_OTHER, session="two", deadline_s=50),
}
"""What each connection sends."""

AFTER: Final[dict[int, int]] = {2: 1, 3: 1, 4: 3}
"""Which connection must have asked before: in another order the same happens by other names."""

RAN: Final[dict[int, Event]] = {
    1: post(shell(_EQUAL, "a")),
    3: post(shell(_EQUAL, "b")),
    4: post(_OTHER, session="two"),
}
"""What the agent tells when it has run the call of a connection without our answer."""

CONSOLES: Final = ("ann", "bob")


def request_of(conn: int) -> str:
    """The id of the request that a connection opens, if it opens one."""
    return f"r{conn}".ljust(26, "k")


def short(request_id: str) -> str:
    """A request's id as a reader knows it."""
    return request_id[:2]
