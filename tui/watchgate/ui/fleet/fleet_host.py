"""One core among several: the way to it, how it stands, and its part of the picture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Unpack

from msgspec.structs import replace

from watchgate.core.model.call_row import CallRow
from watchgate.core.model.records import Record
from watchgate.core.state.gate_folds import GATE_FOLDS
from watchgate.core.state.hosts import HostView
from watchgate.core.state.state import State
from watchgate.link.control_client import RequestFields
from watchgate.link.control_lines import ControlAnswer, CoreLost
from watchgate.link.omitted_values import Renewed, renewed_rows
from watchgate.link.protocol import Snapshot, Verb
from watchgate.link.snapshots import restored
from watchgate.ui.fleet.foreign_records import readable
from watchgate.ui.fleet.host_names import HostNames
from watchgate.ui.source.record_source import RecordSource, Session, wait_s

ROWS_MAX = 10_000
"""Calls of one host that a picture which is made anew begins with."""

STARTED = "policy.started"
_OPEN = ("running", "pending", "host lost")


class Host:
    """One core among several; its last records stay while it is lost.

    `state` is its own part of the picture, with its sessions named by it and by our clock.
    """

    def __init__(self, name: str, source: RecordSource, *, local: bool) -> None:
        self.source = source
        self.names = HostNames(name)
        self.state = State(max_rows=ROWS_MAX)
        self.session: Session | None = None
        self._view = HostView(name=name, local=local)
        self._seq = 0
        self.titles: dict[str, str] = {}

    @property
    def name(self) -> str:
        """Returns the host's name, which its sessions carry."""
        return self._view.name

    @property
    def view(self) -> HostView:
        """Returns the state of the connection to it."""
        return replace(self._view, gate=self.state.gate)

    def connecting(self, now_us: int) -> None:
        """Notes that it is tried for the first time, or again since all were lost."""
        self._leave()
        self._stand(state="connecting", since=now_us, tries=0, retry_at=0, why="")

    def attached(
        self, session: Session, snapshot: Snapshot, *, shift_us: int, now_us: int, seq: int
    ) -> None:
        """Notes that it answers, or is whole again: its part begins anew, after the known calls.

        Args:
            session: The connection to it.
            snapshot: Its first picture.
            shift_us: The shift that makes its times those of this machine, in µs.
            now_us: The time of this machine (UTC µs).
            seq: The number of the common picture that it becomes part of.
        """
        self.session = session
        self.names = HostNames(self.name, shift_us, now_us)
        named = self.names.snapshot(snapshot)
        self._seq = snapshot.seq
        self.titles = snapshot.titles
        rows = tuple(_rows(self.state.rows, named))
        self.state = restored(replace(named, seq=seq, rows=rows), max_rows=ROWS_MAX)
        self._stand(state="attached", since=named.now, tries=0, retry_at=0, why="", waiting=0)

    def lost(self, why: str, tries: int, now_us: int) -> None:
        """Notes that it does not answer: its requests wait there, and it is tried again."""
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

    async def call(self, verb: Verb, **fields: Unpack[RequestFields]) -> ControlAnswer:
        """Asks this core; raises `CoreLost`."""
        if self.session is None:
            raise CoreLost(f"{self.name} is not reachable")
        return await self.session.call(verb, **fields)

    def _leave(self) -> None:
        """Drops its open requests from the picture: they wait at that core from now on."""
        self.session = None
        waiting = self._view.waiting + len(self.state.pending)
        self._stand(state="lost", waiting=waiting)
        self.state.drop_lost_requests()

    def _stand(self, **changes: object) -> None:
        self._view = replace(self._view, **changes)
        self.state.hosts[self.name] = self.view


def _rows(known: Iterable[CallRow], snapshot: Snapshot) -> list[CallRow]:
    """Returns the snapshot's calls after the known older ones, whose outcome is unknown."""
    if isinstance(snapshot, Renewed):
        return renewed_rows(known, snapshot)
    rows = snapshot.rows
    calls = {(row.agent, row.session, row.call) for row in rows}
    older = (
        replace(row, glyph="", stage="no result") if row.stage in _OPEN else row
        for row in known
        if not (rows and row.at > rows[0].at) and (row.agent, row.session, row.call) not in calls
    )
    return [*older, *rows]
