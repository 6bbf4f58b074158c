"""A journal and the chain that feeds it, the way the core holds them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from watchgate.core.chain.hash_chain import Chain, JournalRow
from watchgate.core.model.records import Draft, NoteData, PurgedData
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.unusable import UnusableJournal
from watchgate.service.journal.writer import STEADY, Journal, Pace


def whole(data: dict[str, Any]) -> dict[str, Any]:
    return data


def committed(journal: Journal | UnusableJournal) -> bool:
    """What the next commit says; waits for it."""
    answers: SimpleQueue[bool] = SimpleQueue()
    journal.commit(answers.put)
    return answers.get(timeout=30)


class Scribe:
    """Writes notes of growing number; `at` is the number in seconds."""

    def __init__(self, journal: Journal | UnusableJournal, core: str = "core-a") -> None:
        self.journal = journal
        self.chain = Chain(core, journal.head, whole)

    def write(self, count: int = 1, text: str = "hello", kind: str = "notice") -> JournalRow:
        for _ in range(count):
            at = (self.chain.seq + 1) * 1_000_000
            data = NoteData(native="Note", text=text)
            _, row = self.chain.seal(Draft(kind=kind, at=at, data=data, agent="claude"))
            self.journal.append(row)
        return row

    def purge(self, seqs: Sequence[int]) -> None:
        """A record that others lose their data, and what it tells of."""
        data = PurgedData(agent="claude", session="s", count=len(seqs), upto=max(seqs), by="kim")
        _, row = self.chain.seal(Draft(kind="policy.purged", at=1, data=data, agent="claude"))
        self.journal.purge(row, seqs)

    def commit(self) -> bool:
        return committed(self.journal)


def write_history(path: Path, count: int, text: str = "hello") -> None:
    """A closed journal of `count` records, the way a core that ran and was stopped leaves it."""
    journal = Journal.open(path)
    Scribe(journal).write(count, text=text)
    assert committed(journal)
    assert journal.close() == 0


def open_impatient(
    path: Path, *, rows_kept: int = STEADY.max_rows, retry_s: float = 0.01
) -> Journal:
    """A journal that neither waits for locks nor for the next try."""
    return Journal.open(
        path,
        pace=Pace(flush_s=0.001, retry_s=retry_s, max_rows=rows_kept),
        connect=lambda path: open_to_write(path, busy_timeout_s=0),
    )
