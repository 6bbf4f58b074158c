from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.base.bounded import Ring


@given(capacity=st.integers(1, 7), count=st.integers(0, 40), tail=st.integers(0, 50))
def test_it_is_a_list_that_forgets_its_beginning(capacity: int, count: int, tail: int) -> None:
    ring: Ring[int] = Ring(capacity)
    for number in range(count):
        assert ring.append(number) == number
    kept = list(range(count))[-capacity:]
    assert list(ring) == kept
    assert len(ring) == len(kept)
    assert (ring.first, ring.end) == (count - len(kept), count)
    assert [ring[number] for number in kept] == kept
    assert ring.tail(tail) == kept[max(0, len(kept) - tail) :]
    assert ring.revision == count


@given(capacity=st.integers(1, 7), count=st.integers(1, 40), data=st.data())
def test_an_item_keeps_its_number_until_it_falls_out(
    capacity: int, count: int, data: st.DataObject
) -> None:
    ring: Ring[str] = Ring(capacity)
    for number in range(count):
        ring.append(str(number))
    number = data.draw(st.integers(ring.first, ring.end - 1))
    ring[number] = "new"
    assert ring[number] == "new"
    assert list(ring).count("new") == 1
    assert ring.revision == count + 1


def test_a_number_that_fell_out_or_never_was_is_an_index_error() -> None:
    ring: Ring[int] = Ring(2)
    for number in range(3):
        ring.append(number)
    for number in (0, 3, -1):
        assert number not in ring
        with pytest.raises(IndexError):
            ring[number]
        with pytest.raises(IndexError):
            ring[number] = 0
