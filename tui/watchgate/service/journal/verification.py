"""Verification of a journal: the whole walk, then its head file and anchors.

- An exported file: records as JSON lines, read back. Verification of an exported file against the
  hashes of its records. It is possible where no record was left out.
- The shape of a record's data by its kind: data from a file is held against it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from itertools import chain as joined
from pathlib import Path
from typing import Any, Final, get_args

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.base.ids import canonical_json
from watchgate.core.chain import hash_chain
from watchgate.core.chain.chain_walk import (
    PROGRESS_ROWS,
    Progress,
    anchored,
    before,
    broken_at,
    quiet,
    walk,
)
from watchgate.core.chain.hash_chain import Head, JournalRow, Problem, Verification, row_hash
from watchgate.core.model.assessment import Risk
from watchgate.core.model.events import Kind
from watchgate.core.model.large_inputs import has_reference, resolved
from watchgate.core.model.records import (
    RECORD_VERSION,
    BudgetData,
    CallData,
    DeadlineData,
    DecisionData,
    EffectData,
    EscalatedData,
    FactsData,
    NoteData,
    Record,
    RequestData,
    ResultData,
    TamperedData,
    TraceData,
    UngatedData,
    UsageData,
)
from watchgate.core.model.standing_grant import GrantView
from watchgate.core.model.usage_records import CountedData
from watchgate.core.policy.rules.profiles import Profile
from watchgate.core.presence.attempts import AttemptData
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import HeadError, head_path, head_problem, read_head
from watchgate.service.journal.schema import JournalError, open_to_read, reason

LARGEST: Final = 2**53
"""No time (UTC µs) and no number of ours is as large: what is cannot be told or added up."""

_OTHERS: Final = ("input", "before")
"""Fields with an agent's own words, which may hold any number."""


class _CallShape(CallData, frozen=True, kw_only=True):
    risk: Risk = "unknown"


class _Started(msgspec.Struct, frozen=True):
    profile: Profile = "guard"


class _GateShape(msgspec.Struct, frozen=True):
    until: int = 0
    name: str = ""
    detail: str = ""
    tier: str = ""


class _UsedShape(msgspec.Struct, frozen=True):
    grant: str
    hits: int
    used_at: int
    until_at: int | None


_SHAPES: Final[dict[str, Any]] = {
    **dict.fromkeys(get_args(Kind), NoteData),
    **dict.fromkeys(("tool.post", "tool.error"), ResultData),
    "usage": UsageData,
    "usage.counted": CountedData,
    "policy.budget": BudgetData,
    "hook.trace": TraceData,
    "approval.requested": RequestData,
    "approval.facts": FactsData,
    "approval.decided": DecisionData,
    **dict.fromkeys(("approval.extended", "approval.timeout"), DeadlineData),
    "approval.escalated": EscalatedData,
    **dict.fromkeys(("effect.sent", "effect.undelivered"), EffectData),
    **dict.fromkeys(("effect.confirmed", "effect.contradicted", "effect.refused"), EffectData),
    **dict.fromkeys(("effect.ungated", "policy.ungated"), UngatedData),
    **dict.fromkeys(("policy.tampered", "policy.intact"), TamperedData),
    "policy.refused": AttemptData,
    **dict.fromkeys(("policy.off", "policy.on", "policy.journal", "policy.changed"), _GateShape),
    **dict.fromkeys(("policy.broken", "policy.reloaded", "policy.fault"), _GateShape),
    **dict.fromkeys(("policy.started", "policy.profile"), _Started),
    **dict.fromkeys(("grant.given", "grant.kept"), GrantView),
    "grant.used": _UsedShape,
}


def misshapen(record: Record) -> str:
    """Returns the part of a record that no reader could use; empty where there is none.

    A record that lost its data to a purge has none to be wrong.
    """
    if not 0 <= record.at < LARGEST:
        return f"no clock tells its time, {record.at}"
    if _too_large(record.data):
        return "a number in it is too large for anything that is recorded"
    shape = _CallShape if "gate" in record.data else _SHAPES.get(record.kind)
    if shape is None or not record.data:
        return ""
    try:
        decoding.convert(record.data, shape)
    except (msgspec.ValidationError, ValueError) as fault:
        return f"that is not the data of {record.kind}: {fault}"
    return ""


def _too_large(data: Any) -> bool:
    match data:
        case dict():
            return any(_too_large(value) for name, value in data.items() if name not in _OTHERS)
        case list():
            return any(map(_too_large, data))
        case int() | float():
            return not -LARGEST < data < LARGEST
    return False


_decode = decoding.decoder(Record).decode


class ExportError(ValueError):
    """A file that is no export: the message names the file, the line and what is wrong in it."""


def is_export(word: str) -> bool:
    """Returns whether an argument names a file that can be read, rather than a session."""
    try:
        path = Path(word)
        return path.exists() and not path.is_dir()
    except OSError:  # a name that no file can have
        return False


def read_export(path: Path) -> list[Record]:
    """Returns the records of an exported file, oldest first; raises `ExportError`.

    Inputs that a record refers to are put in their place where the file has them.
    """
    records: dict[int, Record] = {}
    for number, record in enumerate(each_record(path), 1):
        if fault := misshapen(record):
            raise _export_fault(path, number, f"is not a record: {fault}")
        refers = has_reference(record.data)
        data = resolved(record, records.get) if refers else record.data
        records[record.seq] = msgspec.structs.replace(record, data=data)
    return list(records.values())


def each_record(path: Path) -> Iterator[Record]:
    """Yields the records one at a time; raises `ExportError` when it comes to the fault."""
    last = 0
    try:
        with path.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                record = _export_record(path, number, line)
                if record.seq <= last:
                    why = f"holds record {record.seq} after record {last}: the oldest comes first"
                    raise _export_fault(path, number, why)
                last = record.seq
                yield record
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror or error}") from error
    if not last:
        raise ExportError(f"{path} is empty: an export holds a record in each line")


def _export_record(path: Path, number: int, line: bytes) -> Record:
    try:
        record = _decode(line)
    except msgspec.ValidationError as error:
        raise _export_fault(path, number, f"is not a record: {error}") from error
    except JSON_FAULTS as error:
        raise _export_fault(path, number, f"is not JSON: {error}") from error
    if record.v > RECORD_VERSION:
        why = f"was written by a newer Watchgate (version {record.v}): upgrade to read it"
        raise _export_fault(path, number, why)
    return record


def _export_fault(path: Path, number: int, why: str) -> ExportError:
    return ExportError(f"{path}, line {number} {why}")


_MAGIC = b"SQLite format 3\x00"


def is_database(path: Path) -> bool:
    """Returns whether a file is a database rather than lines; raises `ExportError`."""
    try:
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError as error:
        raise ExportError(f"{path} cannot be read: {error.strerror or error}") from error


def verify_export(
    path: Path, *, anchors: Sequence[Head] = (), progress: Progress = quiet
) -> Verification:
    """Verifies the records of the file from its first one; raises `ExportError`.

    What stood before that one is not in the file, and what followed on the last one only an anchor
    can tell.
    """
    wanted = {anchor.seq for anchor in anchors}
    known: dict[int, str] = {}
    bare: set[int] = set()

    def passing() -> Iterator[JournalRow]:
        for count, record in enumerate(each_record(path), 1):
            if count % PROGRESS_ROWS == 0:
                progress(count)
            row = _export_row(record)
            if record.seq in wanted:
                known[record.seq] = record.hash
            if not record.data and row_hash(row) != record.hash:
                bare.add(record.seq)
            yield row

    rows = passing()
    first = next(rows, None)
    verification = hash_chain.verify(
        () if first is None else joined((first,), rows), after=before(first)
    )
    problem = verification.problem
    if problem is not None and problem.seq in bare:
        what = f"record {problem.seq} has no data here that its hash could prove"
        verification = msgspec.structs.replace(verification, problem=Problem(problem.seq, what))
    return anchored(verification, anchors, known.get)


def _export_row(record: Record) -> JournalRow:
    """Returns the row that the record was read from, if it is unchanged."""
    data = canonical_json(record.data)
    return JournalRow(
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


def verify_journal(
    path: Path, *, anchors: Sequence[Head] = (), progress: Progress = quiet
) -> Verification:
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
            reading = _JournalWalk(path, connection)
            walked = walk(reading.rows(), hash_of, headed=lambda: _headed(path), progress=progress)
            verification = walked.verification
            fault = verification.problem or reading.ended_by(verification)
            if fault is None:
                # The head file may be ahead of that moment, and never is of the journal.
                connection.execute("COMMIT")
                fault = head_problem(head_path(path), connection) or walked.missed
            if fault is not None and fault != verification.problem:
                verification = broken_at(verification, fault, hash_of)
            return anchored(verification, anchors, hash_of)
        except sqlite3.Error as error:
            raise JournalError(path, reason(error)) from error


class _JournalWalk:
    """All rows of a journal as far as its pages can be read; there must be one."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self._rows = journal_reader.rows(path, connection, "ORDER BY seq")
        self._error: JournalError | None = None

    def rows(self) -> Iterator[JournalRow]:
        some = False
        try:
            for row in self._rows:
                yield row
                some = True
        except JournalError as error:
            if not some:
                raise
            self._error = error

    def ended_by(self, verification: Verification) -> Problem | None:
        """Returns the fault that ended it before the last row, if there was one."""
        if self._error is None:
            return None
        due = verification.head.seq + 1
        return Problem(due, f"record {due} cannot be read: {self._error}")


def _headed(path: Path) -> int | None:
    try:
        head = read_head(head_path(path))
    except HeadError:
        return None
    return None if head is None else head.seq
