"""Items wait for company and go on in order."""

from __future__ import annotations

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.hub.loop_budget import MAX_BYTES, MAX_ITEMS, Batcher


class Room:
    def __init__(self) -> None:
        self.given: list[list[int]] = []
        self.moments: list[Callable[[], None]] = []
        self.gathering: Batcher[int] = Batcher(self.given.append, self.moments.append)


def test_items_of_one_moment_go_on_together() -> None:
    room = Room()
    for item in (1, 2, 3):
        room.gathering.add(item, 1)
    assert room.given == []
    assert len(room.moments) == 1, "one call for all of them"
    room.moments.pop()()
    assert room.given == [[1, 2, 3]]


def test_many_do_not_wait_for_the_moment_to_end() -> None:
    room = Room()
    for item in range(MAX_ITEMS):
        room.gathering.add(item, 1)
    assert room.given == [list(range(MAX_ITEMS))]
    room.moments.pop()()
    assert len(room.given) == 1, "nothing is left to give"


def test_what_is_large_goes_on_at_once() -> None:
    room = Room()
    room.gathering.add(1, 1)
    room.gathering.add(2, MAX_BYTES)
    assert room.given == [[1, 2]]


def test_an_item_added_while_others_are_given_is_not_lost() -> None:
    given: list[list[int]] = []

    def give(items: list[int]) -> None:
        given.append(items)
        if items == [1]:
            gathering.add(2, 1)

    moments: list[Callable[[], None]] = []
    gathering = Batcher(give, moments.append)
    gathering.add(1, 1)
    while moments:
        moments.pop()()
    assert given == [[1], [2]]


@given(st.lists(st.one_of(st.just("moment"), st.integers(1, MAX_BYTES))))
def test_nothing_is_lost_or_reordered(steps: list[str | int]) -> None:
    room = Room()
    sent: list[int] = []
    for number, step in enumerate(steps):
        if isinstance(step, int):
            sent.append(number)
            room.gathering.add(number, step)
        elif room.moments:
            room.moments.pop()()
    room.gathering.flush()
    assert [item for batch in room.given for item in batch] == sent
    assert all(len(batch) <= MAX_ITEMS for batch in room.given)
