"""The hash chain: what makes a journal show that it was changed.

Each row's hash covers its own fields and the hash of the row before it. It commits to the digest
of the data, not to the data, so that dropping a payload later leaves the chain intact.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.model.large_inputs import Holders
from watchgate.core.model.records import RECORD_VERSION, Draft, Record

View = Callable[[dict[str, Any]], dict[str, Any] | msgspec.Raw]
"""Function from a record's whole data to the part that the journal keeps, or its canonical JSON."""

_encode = msgspec.json.Encoder(order="sorted").encode


class JournalRow(msgspec.Struct, frozen=True, gc=False):
    """One line of the journal, its fields in the order of the columns.

    `data` is the canonical JSON of what the journal keeps, None once it was purged; `digest` is its
    SHA-256 and stays. `prev` is the hash of the row before, empty for the first.
    """

    seq: int
    v: int
    core: str
    at: int
    kind: str
    agent: str | None
    session: str | None
    sub: str | None
    call: str | None
    request: str | None
    data: bytes | None
    digest: str
    prev: str
    hash: str

    def record(self) -> Record:
        """The record as the journal kept it; without data once that was purged or damaged."""
        return Record(
            v=self.v,
            seq=self.seq,
            core=self.core,
            at=self.at,
            kind=self.kind,
            agent=self.agent,
            session=self.session,
            sub=self.sub,
            call=self.call,
            request=self.request,
            data=_decoded(self.data),
            prev=self.prev,
            hash=self.hash,
        )


def _decoded(data: bytes | None) -> dict[str, Any]:
    # What was changed from outside shows when the chain is verified; reading it must not fail.
    try:
        fields = msgspec.json.decode(data or b"{}")
    except JSON_FAULTS:
        fields = {}
    return fields if isinstance(fields, dict) else {}


class Head(msgspec.Struct, frozen=True):
    """The end of a chain: the number and hash of its newest record."""

    seq: int
    hash: str


START = Head(0, "")
"""The end of an empty chain."""


class Problem(msgspec.Struct, frozen=True):
    """The first fault of a chain: the number of the record that shows it, and what is wrong."""

    seq: int
    message: str


class Verification(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a walk along the chain: `count` sound records up to `head`, then a problem.

    They follow on `start`, which is `START` unless older records were removed. `purged` of them
    have lost their payload, which the hashes allow: `chain_walk` says whether a record does.
    `unheaded` are newer than the head file, `older` anchors name records that were removed.
    """

    count: int
    head: Head
    start: Head = START
    purged: int = 0
    problem: Problem | None = None
    unheaded: int = 0
    older: tuple[Head, ...] = ()


class Chain:
    """Gives drafts their numbers and hashes, going on from `head`.

    With `holders` the journal's view of a record refers to a large input that an earlier one holds.
    """

    def __init__(self, core: str, head: Head, view: View, holders: Holders | None = None) -> None:
        self.core = core
        self.seq = head.seq
        self.hash = head.hash
        self._view = view
        self._holders = holders

    @property
    def head(self) -> Head:
        """The number and hash of the newest sealed record."""
        return Head(self.seq, self.hash)

    def seal(self, draft: Draft) -> tuple[Record, JournalRow]:
        """The record for consoles, with the whole data, and the row for the journal, with its view.

        Raises `ValueError` or `TypeError`, and moves nothing, when the data has no JSON form.
        """
        whole: dict[str, Any] = msgspec.to_builtins(draft.data)
        referring = whole if self._holders is None else self._holders.referring(draft, whole)
        data = _encode(self._view(referring))
        digest = hashlib.sha256(data).hexdigest()
        seq, prev, core = self.seq + 1, self.hash, self.core
        at, kind, agent, session = draft.at, draft.kind, draft.agent, draft.session
        sub, call, request = draft.sub, draft.call, draft.request
        link = (
            RECORD_VERSION, seq, core, at, kind, agent, session, sub, call, request, digest, prev,
        )  # fmt: skip
        own = hashlib.sha256(_encode(link)).hexdigest()
        record = Record(
            v=RECORD_VERSION,
            seq=seq,
            core=core,
            at=at,
            kind=kind,
            agent=agent,
            session=session,
            sub=sub,
            call=call,
            request=request,
            data=whole,
            prev=prev,
            hash=own,
        )
        row = JournalRow(
            seq, RECORD_VERSION, core, at, kind, agent, session, sub, call, request, data, digest,
            prev, own,
        )  # fmt: skip
        self.seq, self.hash = seq, own
        if self._holders is not None:
            self._holders.sealed(seq)
        return record, row


def row_hash(row: JournalRow) -> str:
    """The hash that the row's fields call for: SHA-256 of their canonical JSON array, as hex."""
    link = (
        row.v, row.seq, row.core, row.at, row.kind, row.agent, row.session, row.sub, row.call,
        row.request, row.digest, row.prev,
    )  # fmt: skip
    return hashlib.sha256(_encode(link)).hexdigest()


def verify(rows: Iterable[JournalRow], *, after: Head = START) -> Verification:
    """Walks the rows in the order given, from the one after `after`, to the first that is wrong."""
    head, count, purged = after, 0, 0
    remaining = iter(rows)
    for row in remaining:
        problem = _fault(row, head)
        if problem is not None:
            if row.seq > head.seq + 1 and any(late.seq == problem.seq for late in remaining):
                problem = Problem(
                    problem.seq, f"record {problem.seq} stands after record {row.seq}"
                )
            return Verification(count=count, head=head, start=after, purged=purged, problem=problem)
        head = Head(row.seq, row.hash)
        count += 1
        purged += row.data is None
    return Verification(count=count, head=head, start=after, purged=purged)


def _fault(row: JournalRow, head: Head) -> Problem | None:
    due = head.seq + 1
    if row.seq > due:
        return Problem(due, f"record {due} is missing")
    if row.seq < due:
        return Problem(row.seq, f"record {row.seq} stands after record {head.seq}")
    if row.data is not None and hashlib.sha256(row.data).hexdigest() != row.digest:
        return Problem(row.seq, f"record {row.seq}: its data does not match its digest")
    if row.prev != head.hash:
        before = f"record {head.seq}" if head.seq else "an empty journal"
        return Problem(row.seq, f"record {row.seq} does not follow from {before}")
    if row_hash(row) != row.hash:
        return Problem(row.seq, f"record {row.seq}: its hash does not match its content")
    return None
