"""Which sessions the sidebar shows when they do not all fit."""

from __future__ import annotations

import pytest

from watchgate.ui.widgets.session.session_list import _window


@pytest.mark.parametrize(
    ("heights", "place", "room", "shown"),
    [
        ([2, 2, 2], 0, 6, (0, 3)),
        ([2, 2, 2], 0, 5, (0, 2)),
        ([2, 2, 2], 2, 5, (1, 2)),
        ([2, 5, 2], 2, 8, (1, 2)),
        ([2, 5, 2], 1, 4, (1, 1)),
        ([9], 0, 3, (0, 1)),
        ([], 0, 3, (0, 0)),
    ],
)
def test_the_chosen_session_is_among_those_that_fit(
    heights: list[int], place: int, room: int, shown: tuple[int, int]
) -> None:
    assert _window(heights, place, room) == shown
