"""One core among several: the way to it, how it stands, and its part of the picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from msgspec.structs import replace

from watchgate.core.model.records import Record
from watchgate.core.model.views import CallRow
from watchgate.core.state.gate_folds import GATE_FOLDS
from watchgate.core.state.hosts import HostView
from watchgate.core.state.restore import restore
from watchgate.core.state.state import State
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import Answer, CoreLost
from watchgate.link.omitted_values import Renewed, renewed_rows
from watchgate.link.protocol import Snapshot, Verb
from watchgate.ui.fleet.foreign_records import readable
from watchgate.ui.fleet.host_names import HostNames
from watchgate.ui.source.record_source import RecordSource, Session, wait_s

ROWS_KEPT = 10_000
"""Calls of one host that a picture which is made anew begins with."""

STARTED = "policy.started"
_OPEN = ("running", "pending", "host lost")


class Host:
    """One core among several; what it told is kept while it is lost.

    `state` is its own part of the picture, with its sessions named by it and by our clock.
    """

    def __init__(self, name: str, source: RecordSource, *, local: bool) -> None:
        self.source = source
        self.names = HostNames(name)
        self.state = State(max_rows=ROWS_KEPT)
        self.session: Session | None = None
        self._view = HostView(name=name, local=local)
        self._seq = 0
        self.titles: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Returns what its sessions are named by."""
        return self._view.name

    @property
    def view(self) -> HostView:
        """Returns how it stands."""
        return replace(self._view, gate=self.state.gate)

    def connecting(self, now_us: int) -> None:
        """It is tried for the first time, or for the first time since all were lost."""
        self._leave()
        self._stand(state="connecting", since=now_us, tries=0, retry_at=0, why="")

    def attached(
        self, session: Session, snapshot: Snapshot, *, shift_us: int, now_us: int, seq: int
    ) -> None:
        """It answers, or is whole again: its part begins anew, after the calls known before.

        `shift_us` makes its times ours; `seq` is the number of the picture that it becomes part of.
        """
        self.session = session
        self.names = HostNames(self.name, shift_us, now_us)
        named = self.names.snapshot(snapshot)
        self._seq = snapshot.seq
        self.titles = snapshot.titles
        self.state = restore(
            seq=seq,
            core=named.core,
            at=named.now,
            gate=named.gate,
            sessions=named.sessions,
            pending=named.pending,
            grants=named.grants,
            totals=named.totals,
            usage=named.usage,
            budgets=named.budgets,
            settled=named.settled,
            rows=_rows(self.state.rows, named),
            traces=named.traces,
            max_rows=ROWS_KEPT,
        )
        self._stand(state="attached", since=named.now, tries=0, retry_at=0, why="", waiting=0)

    def lost(self, why: str, tries: int, now_us: int) -> None:
        """It does not answer: what it asks waits there, and it is tried again."""
        was = self._view
        self._leave()
        self._stand(
            state="lost",
            since=was.since if was.state == "lost" else now_us,
            tries=tries,
            retry_at=now_us + int(wait_s(tries) * 1_000_000),
            why=why,
        )

    def take(self, record: Record, seq: int, now_us: int) -> Record | None:
        """A record of this host under its number in the common picture.

        None for one that is known, or that nothing can be shown of.
        """
        if record.seq and record.seq <= self._seq:
            return None
        self._seq = max(self._seq, record.seq)
        if not readable(record):
            return None
        named = replace(self.names.record(record, now_us), seq=seq)
        self.state.apply(named)
        if named.kind in GATE_FOLDS or named.kind == STARTED:
            self._stand()
        return named

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> Answer:
        """Ask this core; raises `CoreLost`."""
        if self.session is None:
            raise CoreLost(f"{self.name} is not reachable")
        return await self.session.call(verb, **fields)

    def _leave(self) -> None:
        """Returns what it asks waits there from now on."""
        self.session = None
        waiting = self._view.waiting + len(self.state.pending)
        self._stand(state="lost", waiting=waiting)
        self.state.drop_lost_requests()

    def _stand(self, **changes: object) -> None:
        self._view = replace(self._view, **changes)
        self.state.hosts[self.name] = self.view


def _rows(known: Iterable[CallRow], snapshot: Snapshot) -> list[CallRow]:
    if isinstance(snapshot, Renewed):
        return renewed_rows(known, snapshot)
    return [*_before(known, snapshot.rows), *snapshot.rows]


def _before(known: Iterable[CallRow], rows: tuple[CallRow, ...]) -> list[CallRow]:
    """The calls that were known and are older than those told now; what became of them is not."""
    calls = {(row.agent, row.session, row.call) for row in rows}
    return [
        replace(row, glyph="", stage="no result") if row.stage in _OPEN else row
        for row in known
        if not (rows and row.at > rows[0].at) and (row.agent, row.session, row.call) not in calls
    ]
