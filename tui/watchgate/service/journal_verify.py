"""Is a journal what was written? The whole walk, with what stands beside it: head file, anchors."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from watchgate.core.chain import Head, Verdict
from watchgate.core.walk import Progress, anchored, broken_at, quiet, walk
from watchgate.service import journal_read
from watchgate.service.journal_head import HeadError, head_path, head_problem, read_head
from watchgate.service.journal_schema import JournalError, open_to_read, reason


def verify(path: Path, *, anchors: Sequence[Head] = (), progress: Progress = quiet) -> Verdict:
    """Walk the whole chain, then hold it against its head file, what it says itself, and anchors.

    Raises `JournalError` for what cannot be read. A fault of the hashes is named before a tail that
    was cut, and that before records that nothing lets go: what does may be in the tail.
    """
    with closing(open_to_read(path)) as connection:

        def hash_of(seq: int) -> str | None:
            found = connection.execute("SELECT hash FROM record WHERE seq = ?", (seq,)).fetchone()
            return None if found is None else str(found[0])

        try:
            # One moment of the journal, whatever a core removes and adds meanwhile.
            connection.execute("BEGIN")
            rows = journal_read.rows(path, connection, "ORDER BY seq")
            walked = walk(rows, hash_of, headed=_headed(path), progress=progress)
            connection.execute("COMMIT")
            verdict = walked.verdict
            # The head file may be ahead of that moment, and never is of the journal.
            fault = verdict.problem or head_problem(head_path(path), connection) or walked.missed
            if fault is not None and fault != verdict.problem:
                verdict = broken_at(verdict, fault, hash_of)
            return anchored(verdict, anchors, hash_of)
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error


def _headed(path: Path) -> int | None:
    try:
        head = read_head(head_path(path))
    except HeadError:
        return None
    return None if head is None else head.seq
