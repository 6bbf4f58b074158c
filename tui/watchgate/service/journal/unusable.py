"""The stand-in for a journal that cannot be used when a core starts, until it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from watchgate.core.chain.hash_chain import START, JournalRow
from watchgate.core.model.records import CoreData
from watchgate.core.state.state import State
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.writer import STEADY, Journal

TRY_EACH_S = 2.0


class UnusableJournal:
    """Takes the place of a journal that could not be opened: keeps no row and counts each.

    `lost` says why, so gates answer closed, and no commit is ever kept. What is observed goes on
    to consoles, out of memory alone.
    """

    head = START
    fault = None
    foreign = ""
    room = STEADY.max_rows

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        self.lost = why
        self.dropped = 0
        self.spent = False
        """The real journal can be used by now."""

    def append(self, row: JournalRow) -> None:  # noqa: ARG002 - as a journal takes it
        """Counts the row."""
        self.dropped += 1

    def extend(self, rows: Sequence[JournalRow]) -> None:
        """Counts the rows."""
        self.dropped += len(rows)

    def purge(self, row: JournalRow, seqs: Sequence[int]) -> None:  # noqa: ARG002 - as a journal takes it
        """Counts the row, and leaves the others as they are."""
        self.append(row)

    def commit(self, callback: Callable[[bool], object]) -> None:
        """Calls back that nothing is on disk."""
        callback(False)

    def empty_log(self, callback: Callable[[bool], object]) -> None:
        """Calls back that nothing was emptied."""
        callback(False)

    def close(self) -> int:
        """Returns the number of rows that are on no disk."""
        return self.dropped


def open_journal(
    path: Path, remember: Callable[[], State]
) -> tuple[Journal | UnusableJournal, State]:
    """Returns the journal and its state by `remember`, or a stand-in while it waits for a mend.

    Raises `JournalError` for a file that no waiting makes ours: another user's or program's, one
    that others may read, one of a newer format.
    """
    try:
        journal = Journal.open(path)
    except JournalError as error:
        if not error.mendable:
            raise
        return UnusableJournal(path, str(error)), State()
    try:
        return journal, remember()
    except JournalError as error:
        journal.close()
        return UnusableJournal(path, str(error)), State()


async def usable_again(journal: UnusableJournal, remember: Callable[[], State]) -> None:
    """Waits until the real journal can be used, and sets `spent`; until then `lost` says why not.

    It stays lost: new records until the core starts over are in no journal either.
    """
    await anyio.sleep(TRY_EACH_S)
    while why := await to_thread.run_sync(_why_not, journal.path, remember):
        journal.lost = why
        await anyio.sleep(TRY_EACH_S)
    journal.spent = True


def missed(count: int) -> CoreData:
    """Returns the next core's record of the time without a journal (`policy.journal`)."""
    what = f"the journal can be written again; {count} records of the time before are not in it"
    return CoreData(what=what, detail="ok")


def _why_not(path: Path, remember: Callable[[], State]) -> str:
    try:
        journal, _ = open_journal(path, remember)
    except JournalError as error:
        return str(error)
    journal.close()
    return journal.lost
