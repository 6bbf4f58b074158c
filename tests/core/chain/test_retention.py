"""Which records leave the journal: the oldest, no more than limits call for, in small slices."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.chain import chain_walk
from watchgate.core.chain.chain_walk import RecordSize, RetentionCut, RetentionLimits, cut
from watchgate.core.model.records import CheckpointData

DAY_US = 86_400_000_000
NOW = 1_000 * DAY_US
MIB = 1024 * 1024
LIMITS = RetentionLimits(max_age_days=90, max_size_mb=16)


def kept(seq: int, *, age_days: float = 0, size_bytes: int = 500) -> RecordSize:
    return RecordSize(seq, NOW - int(age_days * DAY_US), f"hash {seq}", size_bytes)


def test_a_journal_within_its_limits_loses_nothing() -> None:
    records = [kept(seq, age_days=90) for seq in range(1, 100)]
    assert cut(records, 16 * MIB, LIMITS, NOW) is None
    assert cut([], 0, LIMITS, NOW) is None


def test_what_is_too_old_leaves_and_the_checkpoint_says_what_it_was() -> None:
    ages = [100, 95, 91, 90, 89]
    records = [kept(seq, age_days=age) for seq, age in enumerate(ages, 8)]
    assert cut(records, 1 * MIB, LIMITS, NOW) == RetentionCut(
        CheckpointData(
            removed_to=10,
            hash="hash 10",
            count=3,
            since=NOW - 100 * DAY_US,
            until=NOW - 91 * DAY_US,
            why="older than 90 days",
        ),
        ends=(10,),
    )


def test_what_is_too_much_leaves_until_a_tenth_is_free() -> None:
    records = [kept(seq, size_bytes=MIB) for seq in range(1, 18)]
    found = cut(records, 17 * MIB, LIMITS, NOW)
    assert found is not None
    assert (found.checkpoint.removed_to, found.checkpoint.why) == (3, "beyond 16 MB")


def test_both_limits_may_call_for_it() -> None:
    records = [kept(1, age_days=91), *(kept(seq, size_bytes=MIB) for seq in range(2, 18))]
    found = cut(records, 17 * MIB, LIMITS, NOW)
    assert found is not None
    assert found.checkpoint.why == "older than 90 days and beyond 16 MB"


def test_a_young_record_keeps_what_is_behind_it() -> None:
    """A clock that was set back wrote what looks old; it is not older than what stands before."""
    records = [kept(1, age_days=1), kept(2, age_days=400), kept(3)]
    assert cut(records, 1 * MIB, LIMITS, NOW) is None


def test_a_record_from_the_future_leaves_when_there_is_too_much() -> None:
    records = [kept(1, age_days=-400), kept(2, size_bytes=2 * MIB), kept(3)]
    assert cut(records, 1 * MIB, LIMITS, NOW) is None
    found = cut(records, 17 * MIB, LIMITS, NOW)
    assert found is not None
    assert found.checkpoint.removed_to == 3


@pytest.mark.parametrize(
    ("size_bytes", "count"),
    [(1, chain_walk.MAX_LEAVING), (4 * MIB, chain_walk.MAX_LEAVING_BYTES // (4 * MIB))],
)
def test_one_checkpoint_lets_only_so_much_go_and_looks_at_no_more(
    size_bytes: int, count: int
) -> None:
    seen = 0

    def endless() -> Iterator[RecordSize]:
        nonlocal seen
        while True:
            seen += 1
            yield kept(seen, age_days=100, size_bytes=size_bytes)

    found = cut(endless(), 1 * MIB, LIMITS, NOW)
    assert found is not None
    assert (found.checkpoint.count, seen) == (count, count)


@given(st.lists(st.integers(1, 3 * MIB), min_size=1, max_size=1_200), st.integers(1, 10**9))
def test_slices_cover_what_leaves_and_none_is_long(sizes: list[int], first: int) -> None:
    records = [kept(first + n, age_days=91, size_bytes=size) for n, size in enumerate(sizes)]
    found = cut(records, 1 * MIB, LIMITS, NOW)
    assert found is not None
    start = first
    for end in found.ends:
        slice_ = sizes[start - first : end + 1 - first]
        assert 1 <= len(slice_) <= chain_walk.SLICE_RECORDS
        assert len(slice_) == 1 or sum(slice_) <= chain_walk.SLICE_BYTES
        start = end + 1
    assert start == found.checkpoint.removed_to + 1 == first + found.checkpoint.count


@given(
    st.lists(st.tuples(st.floats(-10, 200), st.integers(1, 4 * MIB)), max_size=60),
    st.integers(0, 40 * MIB),
)
def test_nothing_leaves_that_no_limit_calls_for(
    shapes: list[tuple[float, int]], used_bytes: int
) -> None:
    records = [kept(n, age_days=age, size_bytes=size) for n, (age, size) in enumerate(shapes, 1)]
    found = cut(records, used_bytes, LIMITS, NOW)
    gone = records[: found.checkpoint.count] if found else []
    over = used_bytes - 16 * MIB
    for number, record in enumerate(gone):
        freed = sum(each.size_bytes for each in gone[:number])
        old = record.at < NOW - 90 * DAY_US
        assert old or (over > 0 and freed < over + 16 * MIB // 10 + 1)
    if (
        len(gone) < len(records)
        and sum(each.size_bytes for each in gone) < chain_walk.MAX_LEAVING_BYTES
    ):
        left = records[len(gone)]
        assert left.at >= NOW - 90 * DAY_US
        assert over <= 0 or sum(each.size_bytes for each in gone) >= over
