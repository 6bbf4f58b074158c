"""A core whose journal cannot be used when it starts: what stands in, until it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import anyio
from anyio import to_thread

from watchgate.core.chain import START, Row
from watchgate.core.records import CoreData
from watchgate.service.journal import STEADY, Gap, Journal
from watchgate.service.journal_schema import JournalError

TRY_EACH_S = 2.0


class UnusableJournal:
    """Takes the place of a journal that could not be opened: keeps no row and counts each.

    `lost` says why, so gates answer closed, and no commit is ever kept. What is observed goes on
    to consoles, out of memory alone.
    """

    head = START
    fault = None
    room = STEADY.rows_kept

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        self.lost = why
        self.dropped = 0

    def append(self, row: Row) -> None:  # noqa: ARG002 - as a journal takes it
        """Count the row."""
        self.dropped += 1

    def extend(self, rows: Sequence[Row]) -> None:
        """Count the rows."""
        self.dropped += len(rows)

    def purge(self, row: Row, seqs: Sequence[int]) -> None:  # noqa: ARG002 - as a journal takes it
        """Count the row, and leave the others as they are."""
        self.append(row)

    def commit(self, callback: Callable[[bool], None]) -> None:
        """Say that nothing is on the disk."""
        callback(False)

    def take_gap(self) -> Gap | None:
        """No gap: what the core recorded is in no chain that goes on."""
        return None

    def close(self) -> int:
        """The number of rows that are on no disk."""
        return self.dropped


def open_journal(path: Path) -> Journal | UnusableJournal:
    """The journal, or what stands in while it waits for a mend.

    Raises `JournalError` for a file that no waiting makes ours: another user's or program's, one
    that others may read, one of a newer format.
    """
    try:
        return Journal.open(path)
    except JournalError as error:
        if not error.mendable:
            raise
        return UnusableJournal(path, str(error))


async def usable_again(journal: UnusableJournal) -> None:
    """Return once the real journal can be opened; until then `journal.lost` says why it cannot."""
    while True:
        await anyio.sleep(TRY_EACH_S)
        journal.lost = await to_thread.run_sync(_why_not, journal.path)
        if not journal.lost:
            return


def missed(count: int) -> CoreData:
    """What the next core records of the time without a journal (`policy.journal`)."""
    what = f"the journal can be written again; {count} records of the time before are not in it"
    return CoreData(what=what, detail="ok")


def _why_not(path: Path) -> str:
    try:
        Journal.open(path).close()
    except JournalError as error:
        return str(error)
    return ""
