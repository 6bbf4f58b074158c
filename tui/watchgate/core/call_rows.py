"""The newest tool calls as rows, found by their call."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.records import Record
from watchgate.core.ring import Ring
from watchgate.core.views import CallRow

TURN_ROWS = 200

CallKey = tuple[str, str, str]


def call_key(record: Record) -> CallKey:
    """Which call a record is about."""
    return record.agent or "", record.session or "", record.call or ""


class CallRows:
    """A ring of rows (`ring`), and where in it the row of each call is."""

    def __init__(self, kept: int) -> None:
        self.ring: Ring[CallRow] = Ring(kept)
        self._number_of: dict[CallKey, int] = {}

    def add(self, row: CallRow) -> int:
        """Take a row as the newest of its call; returns its number."""
        number = self.ring.append(row)
        self._number_of[row.agent, row.session, row.call] = number
        if len(self._number_of) > 2 * self.ring.capacity:
            self._number_of = {k: n for k, n in self._number_of.items() if n in self.ring}
        return number

    def number(self, key: CallKey) -> int | None:
        """The ring number of a call's row, while it is still kept."""
        number = self._number_of.get(key)
        # Numbers only grow, so that one is still kept unless it is older than the oldest.
        return number if number is not None and number >= self.ring.first else None

    def get(self, key: CallKey) -> CallRow | None:
        """The row of a call, while it is still kept."""
        number = self.number(key)
        return None if number is None else self.ring[number]

    def edit(self, key: CallKey, **changes: Any) -> None:
        """Change the row of a call; nothing when it is not kept any more."""
        number = self.number(key)
        if number is not None:
            self.ring[number] = msgspec.structs.replace(self.ring[number], **changes)

    def end_turn(self, agent: str, session: str, sub: str = "") -> None:
        """Calls of a session or sub-agent that are still running were not told of any more."""
        ring = self.ring
        for number in range(max(ring.first, ring.end - TURN_ROWS), ring.end):
            row = ring[number]
            whose = row.agent, row.session, row.sub, row.stage
            if whose == (agent, session, sub, "running"):
                ring[number] = msgspec.structs.replace(row, stage="no result")

    def forget_nameless(self) -> None:
        """A new core counts calls without an id from 1 again; those are other calls."""
        self._number_of = {k: n for k, n in self._number_of.items() if not k[2].startswith("~")}
