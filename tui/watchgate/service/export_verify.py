"""Verification of an exported file against the hashes of its records.

It is possible where no record was left out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from itertools import chain as joined
from pathlib import Path

import msgspec

from watchgate.core import chain
from watchgate.core.chain import Head, Problem, Row, Verdict, row_hash
from watchgate.core.checkpoints import before
from watchgate.core.ids import canonical_json
from watchgate.core.records import Record
from watchgate.core.walk import PROGRESS_ROWS, Progress, anchored, quiet
from watchgate.service.exported import ExportError, each_record

_MAGIC = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
    """Returns whether a file is a database rather than lines; raises `ExportError`."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror or error}") from error


def verify(path: Path, *, anchors: Sequence[Head] = (), progress: Progress = quiet) -> Verdict:
    """Verifies the records of the file from its first one; raises `ExportError`.

    What stood before that one is not in the file, and what followed on the last one only an anchor
    can tell.
    """
    wanted = {anchor.seq for anchor in anchors}
    known: dict[int, str] = {}
    bare: set[int] = set()

    def passing() -> Iterator[Row]:
        for count, record in enumerate(each_record(path), 1):
            if count % PROGRESS_ROWS == 0:
                progress(count)
            row = _row(record)
            if record.seq in wanted:
                known[record.seq] = record.hash
            if not record.data and row_hash(row) != record.hash:
                bare.add(record.seq)
            yield row

    rows = passing()
    first = next(rows, None)
    verdict = chain.verify(() if first is None else joined((first,), rows), after=before(first))
    problem = verdict.problem
    if problem is not None and problem.seq in bare:
        what = f"record {problem.seq} has no data here that its hash could prove"
        verdict = msgspec.structs.replace(verdict, problem=Problem(problem.seq, what))
    return anchored(verdict, anchors, known.get)


def _row(record: Record) -> Row:
    """Returns the row that the record was read from, if it is unchanged."""
    data = canonical_json(record.data)
    return Row(
        seq=record.seq,
        v=record.v,
        core=record.core,
        at=record.at,
        kind=record.kind,
        agent=record.agent,
        session=record.session,
        sub=record.sub,
        call=record.call,
        request=record.request,
        data=data,
        digest=hashlib.sha256(data).hexdigest(),
        prev=record.prev,
        hash=record.hash,
    )
