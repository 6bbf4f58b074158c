"""A stretch in which nothing is searched for cycles."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest

from watchgate.cli.money import uncollected


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    yield
    gc.enable()
    gc.unfreeze()


def test_cycles_are_searched_for_again_once_it_is_over() -> None:
    with uncollected():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_also_where_it_failed() -> None:
    with pytest.raises(ValueError, match="odd"), uncollected():
        raise ValueError("odd")
    assert gc.isenabled()


def test_what_was_made_is_walked_through_no_more() -> None:
    with uncollected():
        made: list[list[int]] = [[]]
    assert gc.get_freeze_count()
    assert not any(each is made for each in gc.get_objects())


def test_who_had_switched_the_search_off_has_it_off() -> None:
    gc.disable()
    with uncollected():
        pass
    assert not gc.isenabled()
