"""The path of a record: sealed, queued for the journal, folded into the state, shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from watchgate.core.base.clock import Clock
from watchgate.core.chain.hash_chain import Chain, JournalRow
from watchgate.core.model.records import CoreData, Draft, NoteData, Record, TamperedData
from watchgate.core.state.state import State
from watchgate.service.system.error_boundary import contain_each

RESERVED_ROWS = 5_000


class RecorderJournal(Protocol):
    """The journal, as far as a running core needs it."""

    @property
    def path(self) -> Path:
        """The database."""

    @property
    def room(self) -> int:
        """The number of rows for which there is room in the queue."""

    @property
    def lost(self) -> str:
        """The reason why nothing can be written now; empty while all is well."""

    @property
    def foreign(self) -> str:
        """The sign that another program writes to it; empty while there is none."""

    def append(self, row: JournalRow) -> None:
        """Takes a row to write."""

    def extend(self, rows: Sequence[JournalRow]) -> None:
        """Takes several rows to write."""

    def purge(self, row: JournalRow, seqs: Sequence[int]) -> None:
        """Takes a row to write in one step with dropping the data of older ones."""

    def commit(self, callback: Callable[[bool], object]) -> None:
        """Calls back with whether everything appended so far is on disk; from any thread."""

    def empty_log(self, callback: Callable[[bool], object]) -> None:
        """Empties the database's log of dropped data, and calls back with whether it is empty."""


class Watcher(Protocol):
    """An attached console, or another reader of all new records."""

    def offer(self, record: Record) -> None:
        """Takes a record, or counts it as skipped; never waits."""


class Recorder:
    """The records of one core, and the watchers that get each of them.

    `remembering`: the usage that earlier cores recorded is still being read into the state.
    """

    def __init__(self, chain: Chain, journal: RecorderJournal, state: State, clock: Clock) -> None:
        self.state = state
        self.journal = journal
        self.watchers: set[Watcher] = set()
        self.remembering = False
        self.chain = chain
        self._clock = clock
        self._unrecorded = 0

    def record(self, draft: Draft) -> None:
        """Records one draft."""
        record, row = self.chain.seal(draft)
        self.journal.append(row)
        self._show(record)

    def record_purge(self, draft: Draft, seqs: Sequence[int]) -> None:
        """Records one draft, and in the same step drops the journal's data of older records."""
        record, row = self.chain.seal(draft)
        self.journal.purge(row, seqs)
        self._show(record)

    def _show(self, record: Record) -> None:
        self.state.apply(record)
        for watcher in tuple(self.watchers):
            watcher.offer(record)

    def record_all(self, drafts: list[Draft], failed: Callable[[str], None]) -> None:
        """Records each draft, one stage after the other; empties the list.

        Calls `failed` for each one over which this program fails; the others go on all the same.
        """
        sealed: list[tuple[Record, JournalRow]] = []
        faults: list[str] = []
        contain_each(drafts, lambda each: sealed.append(self.chain.seal(each)), faults.append)
        drafts.clear()
        self.journal.extend([row for _, row in sealed])
        records = [record for record, _ in sealed]
        contain_each(records, self.state.apply, faults.append)
        for watcher in tuple(self.watchers):
            contain_each(records, watcher.offer, faults.append)
        for fault in faults:
            failed(fault)

    def about_core(self, kind: str, data: CoreData) -> None:
        """Records something about the core itself."""
        self.about(kind, data)

    def about(self, kind: str, data: CoreData | TamperedData | NoteData) -> None:
        """Records something of now about the core, a file that it rests on, or its sockets."""
        self.record(Draft(kind=kind, at=self._clock.now().wall_us, data=data))

    def notice(self, native: str, detail: str) -> None:
        """Records something that was noticed at the sockets and belongs to no session."""
        self.about("notice", NoteData(native=native, detail=detail))

    def internal_error(self, fault: str, where: str) -> None:
        """Records that this program failed, over what, and that it goes on."""
        self.notice("internal.error", f"internal error: {fault}, {where}")

    @property
    def roomy(self) -> bool:
        """Returns whether the queue to the disk has room for more than gates."""
        return self.journal.room > RESERVED_ROWS

    def has_room(self) -> bool:
        """Returns whether there is room to record an observation; if not, counts it."""
        if self.roomy:
            return True
        self._unrecorded += 1
        return False

    def take_unrecorded(self) -> int:
        """Returns and resets the number of observations that were not recorded."""
        count, self._unrecorded = self._unrecorded, 0
        return count
