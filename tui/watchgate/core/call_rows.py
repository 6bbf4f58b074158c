"""The newest tool calls as rows of a table, looked up by agent, session and call id."""

from __future__ import annotations

from typing import Any

import msgspec

from watchgate.core.records import Record
from watchgate.core.ring import Ring
from watchgate.core.views import CallRow

ROW_CHARS = 8_192
"""Characters of a call that its row shows."""

TURN_ROWS = 200
MAX_SHARED = 1_000

CallKey = tuple[str, str, str]


def call_key(record: Record) -> CallKey:
    """Returns agent, session and call id of a record."""
    return record.agent or "", record.session or "", record.call or ""


class CallRows:
    """A ring of rows (`ring`), and the place of each call's row in it.

    The numbers are stored by session and then by the call's own name: dictionaries of texts and
    numbers are not looked through for garbage, which with 100,000 rows would hold up the keys.
    """

    def __init__(self, max_rows: int) -> None:
        self.ring: Ring[CallRow] = Ring(max_rows)
        self._number_of: dict[tuple[str, str], dict[str, int]] = {}
        self._shared: dict[str, str] = {}

    def shared(self, text: str) -> str:
        """Returns the same text, stored once for all rows instead of once for each record."""
        if len(self._shared) > MAX_SHARED:
            self._shared.clear()
        return self._shared.setdefault(text, text)

    def add(self, row: CallRow) -> int:
        """Takes a row as the newest of its call; returns its number."""
        ring = self.ring
        if len(ring) == ring.capacity:
            self._forget(ring.first)
        number = ring.append(row)
        self._number_of.setdefault((row.agent, row.session), {})[row.call] = number
        return number

    def number(self, key: CallKey) -> int | None:
        """Returns the ring number of a call's row, None once it has fallen out."""
        numbers = self._number_of.get(key[:2])
        number = numbers.get(key[2]) if numbers is not None else None
        # Numbers only grow, so that one is still kept unless it is older than the oldest.
        return number if number is not None and number >= self.ring.first else None

    def get(self, key: CallKey) -> CallRow | None:
        """Returns the row of a call, None once it has fallen out."""
        number = self.number(key)
        return None if number is None else self.ring[number]

    def edit(self, key: CallKey, **changes: Any) -> None:
        """Changes the row of a call; nothing once it has fallen out."""
        number = self.number(key)
        if number is not None:
            self.ring[number] = msgspec.structs.replace(self.ring[number], **changes)

    def end_turn(self, agent: str, session: str, sub: str = "") -> None:
        """Marks calls of a session or sub-agent that still run as ended without a result."""
        ring = self.ring
        for number in range(max(ring.first, ring.end - TURN_ROWS), ring.end):
            row = ring[number]
            owner_and_stage = row.agent, row.session, row.sub, row.stage
            if owner_and_stage == (agent, session, sub, "running"):
                ring[number] = msgspec.structs.replace(row, stage="no result")

    def _forget(self, number: int) -> None:
        """Forgets the number of the row that is about to fall out, unless its call came again.

        One at a time: to look for all of them at once would hold up the keys.
        """
        row = self.ring[number]
        key = (row.agent, row.session)
        numbers = self._number_of.get(key)
        if numbers is not None and numbers.get(row.call) == number:
            del numbers[row.call]
            if not numbers:
                del self._number_of[key]

    def forget_nameless(self) -> None:
        """Forgets the numbers of calls without an id: a new core counts those from 1 again."""
        self._number_of = {
            key: named
            for key, numbers in self._number_of.items()
            if (named := {call: n for call, n in numbers.items() if not call.startswith("~")})
        }
