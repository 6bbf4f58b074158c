"""Checks whether the records that a journal no longer holds left it as the journal itself says.

Retention seals a checkpoint before it removes anything: whatever stands before the oldest record
that is left must have been let go by a checkpoint further along the same chain.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watchgate.core import decoding
from watchgate.core.chain import START, Head, Problem, Row
from watchgate.core.json_faults import JSON_FAULTS
from watchgate.core.records import CheckpointData

KIND = "policy.checkpoint"


class Checkpoint(msgspec.Struct, frozen=True):
    """Record `seq` lets the records up to `last` go, whose own number and hash that is."""

    seq: int
    last: Head


def checkpoint_in(row: Row) -> Checkpoint | None:
    """The checkpoint that a row is, if it is one and can be read."""
    if row.kind != KIND:
        return None
    try:
        data = decoding.decode(row.data or b"", CheckpointData)
    except JSON_FAULTS:
        return None
    return Checkpoint(row.seq, Head(data.removed_to, data.hash))


def before(first: Row | None) -> Head:
    """The record that the oldest row left says it follows on."""
    return Head(first.seq - 1, first.prev) if first is not None and first.seq > 1 else START


def start_problem(
    start: Head, checkpoints: Sequence[Checkpoint], hash_of: Callable[[int], str | None]
) -> Problem | None:
    """Return the fault of a sound chain that follows on `start`, given all checkpoints in it.

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
