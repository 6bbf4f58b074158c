"""A recording as a film: the times of its records, long idle gaps cut short.

Snapshots on the way save folding all records again for each jump.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence

import anyio.lowlevel

from watchgate.core.model.records import Record
from watchgate.core.state.state import MAX_ROWS, State
from watchgate.link.protocol import Snapshot
from watchgate.link.snapshots import restored, snapshot

SLICE = 200
"""Records folded before other tasks get their turn: about 5 ms."""

SNAPSHOTS_MAX = 32
SNAPSHOT_EVERY = 2_000


class Pictures:
    """Snapshots of a recording; some of those passed on the way stay for the next time."""

    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._every = max(SNAPSHOT_EVERY, len(records) // SNAPSHOTS_MAX)
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
    return snapshot(state, core=state.core, now_us=now_us, rows=MAX_ROWS)


IDLE_S = 5.0
"""So much is shown of a gap between two records; the rest of it is skipped."""

_SECOND_US = 1_000_000
_CALLS = ("tool.pre", "tool.permission")


class Film:
    """At least one record, oldest first; places in it are numbers of records that were played.

    `at_us` are the recorded times (UTC µs), none before the one in front of it, `film_s` the
    seconds from the start at which each is played, `cut_s` what was left out just before it.
    `calls` and `requests` are the places where one was made; `gate_recorded` says whether the
    state of the gate is known.
    """

    def __init__(self, records: Sequence[Record]) -> None:
        if not records:
            raise ValueError("a recording without records cannot be played")
        self.records = records
        self.at_us: list[int] = []
        self.film_s: list[float] = []
        self.cut_s: list[float] = []
        newest, film_s = records[0].at, 0.0
        for record in records:
            gap_s = max(0, record.at - newest) / _SECOND_US
            shown_s = min(gap_s, IDLE_S)
            newest, film_s = max(newest, record.at), film_s + shown_s
            self.at_us.append(newest)
            self.film_s.append(film_s)
            self.cut_s.append(gap_s - shown_s)
        self.gate_recorded = any(record.kind == "policy.started" for record in records)
        self.calls = _places(records, _CALLS)
        self.requests = _places(records, ("approval.requested",))

    @property
    def end_s(self) -> float:
        """Returns the film's length in seconds."""
        return self.film_s[-1]

    def played_at(self, film_s: float) -> int:
        """Returns the number of records played by that second of the film."""
        return bisect_right(self.film_s, film_s)

    def now_us(self, played: int, film_s: float) -> int:
        """The recorded time of a place: that of its last record, and what has passed since."""
        last = played - 1
        return self.at_us[last] + round(max(0.0, film_s - self.film_s[last]) * _SECOND_US)


def beyond(places: Sequence[int], played: int) -> int | None:
    """The first of these places after one."""
    index = bisect_right(places, played)
    return places[index] if index < len(places) else None


def before(places: Sequence[int], played: int) -> int | None:
    """The last of these places in front of one."""
    index = bisect_right(places, played - 1)
    return places[index - 1] if index else None


def _places(records: Iterable[Record], kinds: Sequence[str]) -> list[int]:
    """The places at which a record of such a kind is the last that was played."""
    return [place for place, record in enumerate(records, 1) if record.kind in kinds]
