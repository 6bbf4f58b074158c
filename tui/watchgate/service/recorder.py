"""One record after another: sealed, queued for the journal, folded into the state, shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from watchgate.core.chain import Chain, Row
from watchgate.core.clock import Clock
from watchgate.core.records import CoreData, Draft, NoteData, Record, TamperedData
from watchgate.core.state import State
from watchgate.service.boundary import each_contained

ROOM_KEPT = 5_000


class Writer(Protocol):
    """The journal, as far as a running core needs it."""

    @property
    def path(self) -> Path:
        """The database."""
        ...

    @property
    def room(self) -> int:
        """How many more rows can wait for the disk."""
        ...

    @property
    def lost(self) -> str:
        """Why nothing can be written now; empty while all is well."""
        ...

    @property
    def foreign(self) -> str:
        """Return how another program was noticed that writes to it; empty while there is none."""
        ...

    def append(self, row: Row) -> None:
        """Take a row to write."""
        ...

    def extend(self, rows: Sequence[Row]) -> None:
        """Take several rows to write."""
        ...

    def purge(self, row: Row, seqs: Sequence[int]) -> None:
        """Take a row to write in one step with dropping the data of older ones."""
        ...

    def commit(self, callback: Callable[[bool], None]) -> None:
        """Say whether everything appended so far is on disk; from any thread."""
        ...

    def empty_log(self, callback: Callable[[bool], None]) -> None:
        """Empty the database's log of what was dropped, and say whether it is; from any thread."""
        ...


class Watcher(Protocol):
    """An attached console."""

    def offer(self, record: Record) -> None:
        """Take a record, or count it as skipped; never waits."""
        ...


class Recorder:
    """What one core writes down, and who looks on.

    `remembering`: what earlier cores recorded of usage is still being read into the state.
    """

    def __init__(self, chain: Chain, journal: Writer, state: State, clock: Clock) -> None:
        self.state = state
        self.journal = journal
        self.watchers: set[Watcher] = set()
        self.remembering = False
        self.chain = chain
        self._clock = clock
        self._unrecorded = 0

    def record(self, draft: Draft) -> None:
        """Record one draft."""
        record, row = self.chain.seal(draft)
        self.journal.append(row)
        self._show(record)

    def record_purge(self, draft: Draft, seqs: Sequence[int]) -> None:
        """Record one draft, and in the same step drop what the journal keeps of older records."""
        record, row = self.chain.seal(draft)
        self.journal.purge(row, seqs)
        self._show(record)

    def _show(self, record: Record) -> None:
        self.state.apply(record)
        for watcher in tuple(self.watchers):
            watcher.offer(record)

    def record_all(self, drafts: list[Draft], failed: Callable[[str], None]) -> None:
        """As `record` for each, one stage after the other; empties the list.

        `failed` is told of one over which this program fails; the others go on all the same.
        """
        sealed: list[tuple[Record, Row]] = []
        faults: list[str] = []
        each_contained(drafts, lambda each: sealed.append(self.chain.seal(each)), faults.append)
        drafts.clear()
        self.journal.extend([row for _, row in sealed])
        records = [record for record, _ in sealed]
        each_contained(records, self.state.apply, faults.append)
        for watcher in tuple(self.watchers):
            each_contained(records, watcher.offer, faults.append)
        for fault in faults:
            failed(fault)

    def about_core(self, kind: str, data: CoreData) -> None:
        """Record something about the core itself."""
        self.about(kind, data)

    def about(self, kind: str, data: CoreData | TamperedData) -> None:
        """Record something about the core, or about a file that it rests on."""
        self.record(Draft(kind=kind, at=self._clock.now().wall_us, data=data))

    def notice(self, native: str, detail: str) -> None:
        """Record something that was noticed on the way in, and belongs to no session."""
        data = NoteData(native=native, detail=detail)
        self.record(Draft(kind="notice", at=self._clock.now().wall_us, data=data))

    def internal_error(self, fault: str, where: str) -> None:
        """Record that this program failed, over what, and that it goes on."""
        self.notice("internal.error", f"internal error: {fault}, {where}")

    @property
    def roomy(self) -> bool:
        """Whether what waits for the disk leaves room for more than gates."""
        return self.journal.room > ROOM_KEPT

    def has_room(self) -> bool:
        """Whether there is room to record an observation; if not, it is counted."""
        if self.roomy:
            return True
        self._unrecorded += 1
        return False

    def take_unrecorded(self) -> int:
        """How many observations were not recorded since this was last asked."""
        count, self._unrecorded = self._unrecorded, 0
        return count
