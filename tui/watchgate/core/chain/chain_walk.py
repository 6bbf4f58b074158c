"""One walk along a journal: what its hashes say, and what it says itself of all that it lacks.

- Anchors: the number and hash of a record, kept where whoever can write the journal cannot.
- Checks whether the records that a journal no longer holds left it as the journal itself says.
  Retention seals a checkpoint before it removes anything: whatever stands before the oldest record
  that is left must have been let go by a checkpoint further along the same chain.
- Checks that payloads which a journal no longer holds were dropped as the journal itself says.
- Retention of records: which of the oldest have to leave the journal, and why. They leave from the
  front alone, in the order of their numbers. A record whose time lies ahead, as a clock that was
  wrong left it, keeps those behind it from growing too old, never from being too many.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain as joined

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS
from watchgate.core.chain import hash_chain
from watchgate.core.chain.hash_chain import START, Head, JournalRow, Problem, Verification
from watchgate.core.model.records import CheckpointData, PurgedData
from watchgate.core.secrets.redact import redact

_FORM = re.compile(r"([1-9][0-9]{0,18}):([0-9a-f]{64})")


class Compared(msgspec.Struct, frozen=True):
    """The comparison of anchors with a chain: the first fault, and those too old to be compared."""

    problem: Problem | None
    older: tuple[Head, ...]


def anchor_of(text: str) -> Head:
    """The anchor that a text is; raises `ValueError`."""
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise ValueError(
            f"{text!r} is no anchor: give the SEQ:HASH that `watchgate audit anchor` printed"
        )
    return Head(int(match[1]), match[2])


def anchor_text(head: Head) -> str:
    """The text that stands for the end of a chain."""
    return f"{head.seq}:{head.hash}"


def compared(
    anchors: Iterable[Head], start: Head, end: int, hash_of: Callable[[int], str | None]
) -> Compared:
    """Holds a chain that follows on `start` and has its last record at `end` against anchors."""
    problem: Problem | None = None
    older = []
    for anchor in sorted(anchors, key=lambda each: each.seq):
        if anchor.seq < start.seq:
            older.append(anchor)
        elif problem is None:
            known = start.hash if anchor.seq == start.seq else hash_of(anchor.seq)
            problem = _fault(anchor, known, end)
    return Compared(problem, tuple(older))


def _fault(anchor: Head, known: str | None, end: int) -> Problem | None:
    if known == anchor.hash:
        return None
    if known is None:
        return Problem(
            min(anchor.seq, end + 1),
            f"record {anchor.seq} is missing: an anchor names it, the last one is record {end}",
        )
    return Problem(
        anchor.seq,
        f"record {anchor.seq} has another hash than its anchor says: "
        "it, or what stands before it, was written anew",
    )


KIND = "policy.checkpoint"


class Checkpoint(msgspec.Struct, frozen=True):
    """Record `seq` lets the records up to `last` go, whose own number and hash that is."""

    seq: int
    last: Head


def checkpoint_in(row: JournalRow) -> Checkpoint | None:
    """The checkpoint that a row is, if it is one and can be read."""
    if row.kind != KIND:
        return None
    try:
        data = decoding.decode(row.data or b"", CheckpointData)
    except JSON_FAULTS:
        return None
    return Checkpoint(row.seq, Head(data.removed_to, data.hash))


def before(first: JournalRow | None) -> Head:
    """The record that the oldest row left says it follows on."""
    return Head(first.seq - 1, first.prev) if first is not None and first.seq > 1 else START


def start_problem(
    start: Head, checkpoints: Sequence[Checkpoint], hash_of: Callable[[int], str | None]
) -> Problem | None:
    """Returns the fault of a sound chain that follows on `start`, given all checkpoints in it.

    `hash_of` tells the hash of a record of the chain. A removal that was cut short leaves records
    that their checkpoint lets go; the last one of them must still be the one it names.
    """
    if start == START:
        return None
    covering = [each for each in checkpoints if each.last.seq >= start.seq]
    if not covering:
        return _uncovered(start, checkpoints)
    for each in covering:
        last_hash = start.hash if each.last.seq == start.seq else hash_of(each.last.seq)
        if last_hash == each.last.hash:
            return None
    false = covering[0]
    return Problem(
        start.seq + 1,
        f"record {start.seq + 1} is not what followed on the removed records: "
        f"the checkpoint in record {false.seq} names another hash for record {false.last.seq}",
    )


def _uncovered(start: Head, checkpoints: Sequence[Checkpoint]) -> Problem:
    widest = max(checkpoints, key=lambda each: each.last.seq, default=None)
    if widest is None:
        return Problem(1, f"record 1 is missing: no checkpoint lets those up to {start.seq} go")
    first = widest.last.seq + 1
    return Problem(
        first, f"record {first} is missing: the checkpoint in record {widest.seq} ends before it"
    )


PURGE_KIND = "policy.purged"

_Session = tuple[str | None, str]


class Purges:
    """Watches the rows of a chain pass, oldest first.

    A row without data needs a later record that says the payloads of its session were dropped up
    to it or beyond. Memory grows with the rows that still need one.
    """

    def __init__(self) -> None:
        self._bare: dict[_Session, list[int]] = {}

    def see(self, row: JournalRow) -> None:
        """Takes the next row."""
        if row.data is None:
            # The record that tells of the purge went through the journal's view like any other.
            session = row.agent, redact(row.session or "")
            self._bare.setdefault(session, []).append(row.seq)
        elif row.kind == PURGE_KIND and (purged := _purge_in(row.data)):
            session = purged.agent, purged.session
            bare = self._bare.get(session, [])
            self._bare[session] = [seq for seq in bare if seq > purged.upto]

    def problem(self) -> Problem | None:
        """The first row that lost its data and nobody said so, if there is one."""
        first = min((seq for bare in self._bare.values() for seq in bare), default=None)
        if first is None:
            return None
        return Problem(
            first, f"record {first} has lost its data, and no record says that they were purged"
        )


def _purge_in(data: bytes) -> PurgedData | None:
    try:
        return decoding.decode(data, PurgedData)
    except JSON_FAULTS:
        return None


MAX_LEAVING = 20_000
MAX_LEAVING_BYTES = 64 * 1024 * 1024
"""The most bytes that one checkpoint lets go; a journal far over its limits needs several."""

SLICE_RECORDS = 512
SLICE_BYTES = 1024 * 1024

_DAY_US = 86_400_000_000
_MIB = 1024 * 1024
# What is cut for its size makes room for a while, so that not every look has to cut again.
_TENTHS_LEFT = 9


class RetentionLimits(msgspec.Struct, frozen=True):
    """Limits on the age of a record and the size of all together, as configured."""

    max_age_days: int
    max_size_mb: int


class RecordSize(msgspec.Struct, frozen=True, gc=False):
    """A record of the journal as far as retention looks at it, with about what it takes there."""

    seq: int
    at: int
    hash: str
    size_bytes: int


class RetentionCut(msgspec.Struct, frozen=True):
    """A cut: the checkpoint to record first, then where each slice of the deletion ends."""

    checkpoint: CheckpointData
    ends: tuple[int, ...]


def cut(
    oldest: Iterable[RecordSize], used_bytes: int, limits: RetentionLimits, now_us: int
) -> RetentionCut | None:
    """Returns the cut that these records, oldest first, need now; None where all may stay.

    Of `oldest` only as much is taken as leaves, and one more. `used_bytes` is what all take.
    """
    aged_before = now_us - limits.max_age_days * _DAY_US
    max_bytes = limits.max_size_mb * _MIB
    spare = used_bytes - max_bytes * _TENTHS_LEFT // 10 if used_bytes > max_bytes else 0
    leaving = _leaving(oldest, aged_before, spare)
    if not leaving:
        return None
    first, last = leaving[0], leaving[-1]
    why = []
    if first.at < aged_before:
        days = limits.max_age_days
        why.append(f"older than {days} days" if days > 1 else "older than a day")
    if spare:
        why.append(f"beyond {limits.max_size_mb} MB")
    checkpoint = CheckpointData(
        removed_to=last.seq,
        hash=last.hash,
        count=len(leaving),
        since=first.at,
        until=last.at,
        why=" and ".join(why),
    )
    return RetentionCut(checkpoint, tuple(_ends(leaving)))


def _leaving(oldest: Iterable[RecordSize], aged_before: int, spare_bytes: int) -> list[RecordSize]:
    leaving: list[RecordSize] = []
    taken_bytes = 0
    for record in oldest:
        if record.at >= aged_before and taken_bytes >= spare_bytes:
            break
        leaving.append(record)
        taken_bytes += record.size_bytes
        if len(leaving) == MAX_LEAVING or taken_bytes >= MAX_LEAVING_BYTES:
            break
    return leaving


def _ends(leaving: list[RecordSize]) -> Iterator[int]:
    """Returns the seqs to stop at while deleting, so that nobody who writes waits for long."""
    count = size_bytes = 0
    for record in leaving:
        if count == SLICE_RECORDS or (count and size_bytes + record.size_bytes > SLICE_BYTES):
            yield record.seq - 1
            count = size_bytes = 0
        count += 1
        size_bytes += record.size_bytes
    yield leaving[-1].seq


PROGRESS_ROWS = 10_000

HashOf = Callable[[int], str | None]
"""The hash of a record of the journal, None where it is not there."""

Headed = Callable[[], int | None]
"""The last record that the head file vouches for, None where there is no such file."""

Progress = Callable[[int], None]
"""Told now and then how many records were walked."""


def quiet(_count: int) -> None:
    """Nobody wants to see the progress."""


def unheaded() -> int | None:
    """Nothing stands beside the journal that could vouch for it."""
    return None


class Walked(msgspec.Struct, frozen=True):
    """The verification of the hashes, then the first record that is gone without leave.

    `missed` is only known where the hashes are whole: what would let it go may stand behind a
    fault.
    """

    verification: Verification
    missed: Problem | None


def walk(
    rows: Iterable[JournalRow],
    hash_of: HashOf,
    *,
    headed: Headed = unheaded,
    progress: Progress = quiet,
) -> Walked:
    """Walks the rows of a whole journal, oldest first; one is held at a time.

    Nothing is removed before the head file names the checkpoint, so that a checkpoint behind it was
    added by somebody else. A core that runs writes the file after its rows: it is asked at the end.
    """
    remaining = iter(rows)
    first = next(remaining, None)
    if first is None:
        return Walked(hash_chain.verify(()), None)
    checkpoints: list[Checkpoint] = []
    purges = Purges()

    def passing() -> Iterator[JournalRow]:
        for count, row in enumerate(joined((first,), remaining), 1):
            if count % PROGRESS_ROWS == 0:
                progress(count)
            if row.data is None or row.kind == PURGE_KIND:
                purges.see(row)
            elif row.kind == KIND and (checkpoint := checkpoint_in(row)):
                checkpoints.append(checkpoint)
            yield row

    verification = hash_chain.verify(passing(), after=before(first))
    if verification.problem is not None:
        return Walked(verification, None)
    vouched = headed()
    sound = [each for each in checkpoints if vouched is None or each.seq <= vouched]
    missed = start_problem(verification.start, sound, hash_of) or purges.problem()
    newer = 0 if vouched is None else max(0, verification.head.seq - vouched)
    return Walked(msgspec.structs.replace(verification, unheaded=newer), missed)


def anchored(verification: Verification, anchors: Iterable[Head], hash_of: HashOf) -> Verification:
    """The verification compared with anchors, as far as it reaches."""
    broken = verification.problem
    within = [each for each in anchors if broken is None or each.seq < broken.seq]
    comparison = compared(within, verification.start, verification.head.seq, hash_of)
    verification = msgspec.structs.replace(verification, older=comparison.older)
    return (
        verification
        if comparison.problem is None
        else broken_at(verification, comparison.problem, hash_of)
    )


def broken_at(verification: Verification, problem: Problem, hash_of: HashOf) -> Verification:
    """The verification with a problem that the hashes do not show; sound is what is before it."""
    last = min(max(problem.seq - 1, verification.start.seq), verification.head.seq)
    head = Head(last, hash_of(last) or verification.start.hash)
    count = last - verification.start.seq
    return msgspec.structs.replace(verification, count=count, head=head, problem=problem)
