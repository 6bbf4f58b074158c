"""Retention of records: which of the oldest have to leave the journal, and why.

They leave from the front alone, in the order of their numbers. A record whose time lies ahead, as
a clock that was wrong left it, keeps those behind it from growing too old, never from being too
many.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from watchgate.core.records import CheckpointData

AT_MOST = 20_000
AT_MOST_BYTES = 64 * 1024 * 1024
"""What one checkpoint lets go; a journal far over its limits needs several."""

SLICE_RECORDS = 512
SLICE_BYTES = 1024 * 1024

_DAY_US = 86_400_000_000
_MIB = 1024 * 1024
# What is cut for its size makes room for a while, so that not every look has to cut again.
_TENTHS_LEFT = 9


class Limits(msgspec.Struct, frozen=True):
    """Limits on the age of a record and the size of all together, as configured."""

    max_age_days: int
    max_size_mb: int


class Kept(msgspec.Struct, frozen=True, gc=False):
    """A record of the journal as far as retention looks at it, with about what it takes there."""

    seq: int
    at: int
    hash: str
    size_bytes: int


class Cut(msgspec.Struct, frozen=True):
    """A cut: the checkpoint to record first, then where each slice of the deletion ends."""

    checkpoint: CheckpointData
    ends: tuple[int, ...]


def cut(oldest: Iterable[Kept], used_bytes: int, limits: Limits, now_us: int) -> Cut | None:
    """Return the cut that these records, oldest first, need now; None where all may stay.

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
    return Cut(checkpoint, tuple(_ends(leaving)))


def _leaving(oldest: Iterable[Kept], aged_before: int, spare_bytes: int) -> list[Kept]:
    leaving: list[Kept] = []
    taken_bytes = 0
    for record in oldest:
        if record.at >= aged_before and taken_bytes >= spare_bytes:
            break
        leaving.append(record)
        taken_bytes += record.size_bytes
        if len(leaving) == AT_MOST or taken_bytes >= AT_MOST_BYTES:
            break
    return leaving


def _ends(leaving: list[Kept]) -> Iterator[int]:
    """Return where to stop while deleting, so that nobody who wants to write waits for long."""
    count = size_bytes = 0
    for record in leaving:
        if count == SLICE_RECORDS or (count and size_bytes + record.size_bytes > SLICE_BYTES):
            yield record.seq - 1
            count = size_bytes = 0
        count += 1
        size_bytes += record.size_bytes
    yield leaving[-1].seq
