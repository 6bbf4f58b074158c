"""Which rows of a ring a table shows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.bounded import Ring
from watchgate.ui.widgets.calls import ring_rows
from watchgate.ui.widgets.calls.ring_rows import RingRows


def even(item: int) -> bool:
    return item % 2 == 0


def filled(count: int, *, capacity: int = 100_000) -> Ring[int]:
    ring: Ring[int] = Ring(capacity)
    for item in range(count):
        ring.append(item)
    return ring


def numbers(rows: RingRows[int]) -> list[int]:
    return [rows.number(index) for index in range(len(rows))]


def test_without_a_filter_lines_are_numbers() -> None:
    rows: RingRows[int] = RingRows()
    rows.update(filled(7, capacity=5))
    assert numbers(rows) == [2, 3, 4, 5, 6]
    assert rows.index(4) == 2
    assert rows.searched


def test_a_filter_finds_the_newest_matches_first_and_then_all() -> None:
    ring = filled(10_000)
    rows = RingRows(even)
    rows.update(ring)
    assert numbers(rows)[-1] == 9_998
    assert not rows.searched
    for _ in range(10_000 // ring_rows.SLICE):
        rows.update(ring)
    assert rows.searched
    assert len(rows) == 5_000


def test_a_row_that_changes_comes_and_goes() -> None:
    ring = filled(10)
    rows = RingRows(even)
    rows.update(ring)
    ring[3] = 30
    ring[4] = 41
    rows.update(ring)
    assert numbers(rows) == [0, 2, 3, 6, 8]


def test_an_old_row_that_changes_is_found_within_one_round() -> None:
    ring = filled(10_000)
    rows = RingRows(even)
    for _ in range(10):
        rows.update(ring)
    ring[7] = 70
    for _ in range(10):
        rows.update(ring)
    assert 7 in numbers(rows)


@given(st.lists(st.integers(0, 1200), max_size=8), st.integers(1, 3000))
def test_it_ends_up_with_exactly_the_matches(batches: list[int], capacity: int) -> None:
    ring: Ring[int] = Ring(capacity)
    rows = RingRows(even)
    count = 0
    for batch in batches:
        for _ in range(batch):
            ring.append(count)
            count += 1
        rows.update(ring)
    for _ in range(capacity // ring_rows.SLICE + 2):
        rows.update(ring)
    assert numbers(rows) == [n for n in range(ring.first, ring.end) if even(ring[n])]
