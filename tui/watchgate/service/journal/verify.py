"""Verification of a journal: the whole walk, then its head file and anchors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from watchgate.core.chain import Head, Problem, Row, Verdict
from watchgate.core.walk import Progress, anchored, broken_at, quiet, walk
from watchgate.service.journal import reading
from watchgate.service.journal.head import HeadError, head_path, head_problem, read_head
from watchgate.service.journal.schema import JournalError, open_to_read, reason


def verify(path: Path, *, anchors: Sequence[Head] = (), progress: Progress = quiet) -> Verdict:
    """Walks the whole chain, then compares it with its head file, its own records, and anchors.

    Raises `JournalError` for what cannot be read at all. A fault of the hashes, or pages that are
    damaged, are named before a tail that was cut, and that before records that nothing lets go:
    what does may be in the tail.
    """
    with closing(open_to_read(path)) as connection:

        def hash_of(seq: int) -> str | None:
            row = connection.execute("SELECT hash FROM record WHERE seq = ?", (seq,)).fetchone()
            return None if row is None else str(row[0])

        try:
            # One moment of the journal, whatever a core removes and adds meanwhile.
            connection.execute("BEGIN")
            reading = _Reading(path, connection)
            walked = walk(reading.rows(), hash_of, headed=lambda: _headed(path), progress=progress)
            verdict = walked.verdict
            fault = verdict.problem or reading.ended_by(verdict)
            if fault is None:
                # The head file may be ahead of that moment, and never is of the journal.
                connection.execute("COMMIT")
                fault = head_problem(head_path(path), connection) or walked.missed
            if fault is not None and fault != verdict.problem:
                verdict = broken_at(verdict, fault, hash_of)
            return anchored(verdict, anchors, hash_of)
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error


class _Reading:
    """All rows of a journal as far as its pages can be read; there must be one."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._rows = reading.rows(path, connection, "ORDER BY seq")
        self._error: JournalError | None = None

    def rows(self) -> Iterator[Row]:
        some = False
        try:
            for row in self._rows:
                yield row
                some = True
        except JournalError as error:
            if not some:
                raise
            self._error = error

    def ended_by(self, verdict: Verdict) -> Problem | None:
        """Returns the fault that ended it before the last row, if there was one."""
        if self._error is None:
            return None
        due = verdict.head.seq + 1
        return Problem(due, f"record {due} cannot be read: {self._error}")


def _headed(path: Path) -> int | None:
    try:
        head = read_head(head_path(path))
    except HeadError:
        return None
    return None if head is None else head.seq
