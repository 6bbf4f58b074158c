"""What a console holds of the past: pages that follow each other, and what changed since."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.past_picture import row
from watchgate.ui.source import recorded_calls as module
from watchgate.ui.source.recorded_calls import Page, Past


def filled(*numbers: int, older: int | None = None) -> Past:
    """A past that has had one page with these calls."""
    past = Past()
    past.ask("")
    past.take(Page(calls=tuple(map(row, numbers)), next=older, records=50, newest=50))
    return past


def firsts(past: Past) -> list[int]:
    return [each.first for each in past.rows]


def test_pages_follow_each_other_and_no_call_comes_twice() -> None:
    past = filled(9, 7, older=7)
    past.take(Page(calls=(row(7), row(5), row(2)), next=None, records=50, newest=50))
    assert firsts(past) == [9, 7, 5, 2]
    assert not past.more


def test_the_first_page_of_another_filter_takes_the_place_of_what_was_there() -> None:
    past = filled(9, 7)
    past.ask("risk:high")
    assert firsts(past) == [9, 7], "until there is an answer"
    past.take(Page(calls=(row(4),), records=50, newest=50))
    assert firsts(past) == [4]


def test_what_changed_comes_in_and_what_the_filter_does_not_take_goes() -> None:
    past = filled(9, 7, 5, older=5)
    past.change(Page(calls=(row(11), row(7, outcome="denied"), row(3)), gone=(9,), newest=60))
    assert firsts(past) == [11, 7, 5], "what is older comes with its own page"
    assert past.rows[1].outcome == "denied"
    assert past.newest == 60


def test_after_too_many_changes_it_begins_anew() -> None:
    past = filled(9)
    past.change(Page(reset=True))
    assert past.more
    assert firsts(past) == [9]


@given(
    st.lists(st.integers(1, 40), unique=True, min_size=1),
    st.integers(0, 39),
    st.lists(st.integers(41, 60), unique=True),
    st.lists(st.integers(1, 40), unique=True),
)
def test_the_cursor_stays_with_its_call(
    numbers: list[int], at: int, new: list[int], gone: list[int]
) -> None:
    past = filled(*sorted(numbers, reverse=True))
    past.put(at % len(numbers))
    chosen = past.selected
    assert chosen is not None
    past.change(Page(calls=tuple(map(row, sorted(new, reverse=True))), gone=tuple(gone)))
    assert firsts(past) == sorted({*numbers, *new} - set(gone), reverse=True)
    if chosen.first not in gone:
        assert past.selected == chosen
    elif past.rows:
        assert past.selected is not None


def test_what_is_held_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CALLS_MAX", 3)
    past = filled(9, 7, 5, older=5)
    assert not past.more
    past.change(Page(calls=(row(11),), newest=60))
    assert firsts(past) == [11, 9, 7]


def test_asked_anew_the_cursor_finds_its_call_again_pages_down() -> None:
    """A core that was lost and found, or too many changes at once, ask for the same calls again."""
    past = filled(9, 7, 5, 3, older=3)
    past.put(3)
    past.ask("")
    past.take(Page(calls=(row(11), row(9)), next=9, newest=60))
    assert past.seeking
    past.take(Page(calls=(row(7), row(5)), next=5, newest=60))
    assert past.seeking
    past.take(Page(calls=(row(3), row(1)), next=1, newest=60))
    assert past.selected == row(3)
    assert not past.seeking


@pytest.mark.parametrize("older", [None, 2])
def test_a_call_that_is_gone_is_not_sought_for_ever(older: int | None) -> None:
    past = filled(9, 7, 5, older=5)
    past.put(1)
    past.ask("")
    past.take(Page(calls=(row(9), row(5)), next=older, newest=60))
    assert not past.seeking
    assert past.selected == row(5)


def test_another_call_is_chosen_while_one_is_sought() -> None:
    past = filled(9, 7, 5, older=5)
    past.put(2)
    past.ask("")
    past.take(Page(calls=(row(9), row(8)), next=8, newest=60))
    past.put(0)
    assert not past.seeking
    past.take(Page(calls=(row(7), row(5)), next=None, newest=60))
    assert past.selected == row(9)


def test_another_filter_seeks_nothing() -> None:
    past = filled(9, 7, 5, older=5)
    past.put(2)
    past.ask("risk:high")
    past.take(Page(calls=(row(9),), next=9, newest=60))
    assert not past.seeking
