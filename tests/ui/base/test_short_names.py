"""Names of sessions in a narrow column."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.ui.base.formats import short_names, width


def test_a_name_that_fits_stays_whole() -> None:
    assert short_names(["api", "web"], 8) == {"api": "api", "web": "web"}


def test_names_that_differ_at_their_ends_keep_them() -> None:
    assert short_names(["project-01", "project-16"], 8) == {
        "project-01": "pro...01",
        "project-16": "pro...16",
    }


def test_names_that_differ_in_the_middle_are_cut_around_it() -> None:
    names = [f"project-{number:02}-api" for number in range(16)]
    short = short_names(names, 8)
    assert short["project-07-api"] == "...07..."
    assert len(set(short.values())) == 16


def test_two_of_one_folder_keep_the_beginning_of_their_ids() -> None:
    short = short_names(["watchgate", "watchgate~a1b2", "watchgate~c3d4"], 8)
    assert short == {
        "watchgate": "wat...te",
        "watchgate~a1b2": "wat~a1b2",
        "watchgate~c3d4": "wat~c3d4",
    }


@given(st.sets(st.text(max_size=40), max_size=12), st.integers(min_value=6, max_value=20))
def test_no_name_is_wider_than_its_column(names: set[str], cells: int) -> None:
    assert all(width(short) <= cells for short in short_names(names, cells).values())
