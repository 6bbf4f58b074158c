"""The records of a session in the order of what happened: calls, and events between them."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence

import msgspec

from watchgate.core.call_rows import CallKey, call_key
from watchgate.core.history import CORE_KINDS, fold
from watchgate.core.history_row import HistoryRow
from watchgate.core.records import Record
from watchgate.core.report.fields import well_formed
from watchgate.core.state import State
from watchgate.core.usage.session import SessionUsage
from watchgate.core.views import SessionView

_SHOWN_KINDS = (
    "session.", "prompt.", "turn.", "agent.", "compact.", "task.", "policy.", "grant.", "notice",
    "message", "unknown",
)  # fmt: skip


class Called(msgspec.Struct, frozen=True):
    """A call as a line of the history, and all records of it."""

    row: HistoryRow
    records: tuple[Record, ...]

    @property
    def seq(self) -> int:
        """The number of its first record, which orders the page."""
        return self.row.first


class Noted(msgspec.Struct, frozen=True):
    """Any other record that the page shows."""

    record: Record

    @property
    def seq(self) -> int:
        """The number of its record, which orders the page."""
        return self.record.seq


class Story(msgspec.Struct, frozen=True, kw_only=True):
    """A session from its `first` record to its `last`.

    `left_out` counts by kind the records that the page shows nowhere.
    """

    agent: str
    session: str
    view: SessionView
    usage: SessionUsage | None
    entries: tuple[Called | Noted, ...]
    first: Record
    last: Record
    count: int
    left_out: dict[str, int]

    @property
    def calls(self) -> list[Called]:
        """The calls, oldest first."""
        return [entry for entry in self.entries if isinstance(entry, Called)]


def story(records: Sequence[Record], agent: str, session: str, *, core: str = "") -> Story:
    """Builds the story of a session; the records may hold those of the core as well.

    `core` is the one that runs now: what it held and nobody has decided is pending there. Raises
    `ValueError` where none of the records is of the session.
    """
    records = [well_formed(record) for record in records]
    own = [record for record in records if (record.agent, record.session) == (agent, session)]
    if not own:
        raise ValueError("no record of this session")
    key, state = (agent, session), State(max_rows=1)
    for record in own:
        state.apply(record)
    gate = [record for record in records if record.agent is None and record.kind in CORE_KINDS]
    among = sorted((*own, *gate), key=lambda record: record.seq)
    rows = fold(among, len(among), alive=_waiting(own, core))
    calls, others = _shared_out(own, rows)
    meanwhile = [record for record in gate if own[0].seq < record.seq < own[-1].seq]
    noted = [record for record in (*others, *meanwhile) if record.kind.startswith(_SHOWN_KINDS)]
    entries: list[Called | Noted] = [*calls, *map(Noted, noted)]
    return Story(
        agent=agent,
        session=session,
        view=state.sessions.get(key) or SessionView(agent=agent, session=session, label=session),
        usage=state.usage.sessions.get(key),
        entries=tuple(sorted(entries, key=lambda entry: entry.seq)),
        first=own[0],
        last=own[-1],
        count=len(own),
        left_out=dict(Counter(r.kind for r in others if not r.kind.startswith(_SHOWN_KINDS))),
    )


def _waiting(own: Sequence[Record], core: str) -> set[CallKey]:
    """Returns the calls that this core holds and nobody has decided."""
    waiting: set[CallKey] = set()
    for record in own:
        if record.kind == "approval.requested" and core and record.core == core:
            waiting.add(call_key(record))
        elif record.kind == "approval.decided":
            waiting.discard(call_key(record))
    return waiting


def _shared_out(
    own: Sequence[Record], rows: Sequence[HistoryRow]
) -> tuple[list[Called], list[Record]]:
    """Returns each call with its records, and the records of no call.

    An id that is given again after a new start is another call: the newest that began by then.
    """
    places: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        places.setdefault(row.call, []).append(place)
    of_row: list[list[Record]] = [[] for _ in rows]
    others: list[Record] = []
    for record in own:
        known = places.get(record.call or "")
        if known is None:
            others.append(record)
            continue
        begun = bisect_right(known, record.seq, key=lambda place: rows[place].first)
        of_row[known[max(0, begun - 1)]].append(record)
    return [Called(row, tuple(of)) for row, of in zip(rows, of_row, strict=True)], others
