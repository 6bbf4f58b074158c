"""The state after any number of records, without folding all of them each time."""

from __future__ import annotations

from collections.abc import Sequence

import anyio.lowlevel

from watchgate.core.records import Record
from watchgate.core.state import ROWS_KEPT, State
from watchgate.link.protocol import Snapshot
from watchgate.link.snapshots import restored, snapshot

SLICE = 200
"""Records folded before other tasks get their turn: about 5 ms."""

KEPT = 32
KEPT_EVERY = 2_000


class Pictures:
    """Snapshots of a recording; some of those passed on the way are kept for the next time."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._every = max(KEPT_EVERY, len(records) // KEPT)
        self._snapshots: dict[int, Snapshot] = {}

    async def after(self, played: int) -> State:
        """The state after so many records."""
        start = max((place for place in self._snapshots if place <= played), default=0)
        state = restored(self._snapshots[start]) if start else State()
        for place in range(start, played):
            state.apply(self._records[place])
            if (place + 1) % self._every == 0:
                self._snapshots[place + 1] = taken(state, state.at)
            if (place + 1) % SLICE == 0:
                await anyio.lowlevel.checkpoint()
        return state


def taken(state: State, now_us: int) -> Snapshot:
    """A snapshot that holds every call which the state does."""
    return snapshot(state, core=state.core, now_us=now_us, rows=ROWS_KEPT)
