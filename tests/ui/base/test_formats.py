"""Numbers, times and cut texts as the console writes them."""

from __future__ import annotations

from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.ui.base import formats
from watchgate.ui.base.theme import DARK
from watchgate.ui.widgets.base.pane import StyledLine
from watchgate.ui.widgets.prompts.text_editing import EditLine


@pytest.mark.parametrize(
    ("ms", "running", "shown"),
    [
        (None, False, "-"),
        (2, False, "2 ms"),
        (41, False, "41 ms"),
        (99, False, "99 ms"),
        (200, False, "0.2 s"),
        (12_400, False, "12.4 s"),
        (49_900, True, "49 s"),
        (40, True, "0 s"),
        (125_000, False, "2:05"),
        (4_320_000, False, "1 h 12"),
        (40_000_000, False, "11 h"),
    ],
)
def test_elapsed_time_fits_its_column(ms: int | None, running: bool, shown: str) -> None:
    assert formats.took(ms, running=running) == shown
    assert len(shown) <= 6


@pytest.mark.parametrize(
    ("ms", "shown"), [(0.3, "0.3 ms"), (243, "243 ms"), (61_000, "1:01"), (4_320_000, "1 h 12 min")]
)
def test_machine_time_in_a_sentence(ms: float, shown: str) -> None:
    assert formats.machine(ms) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(23, "0:23"), (23.9, "0:23"), (254, "4:14"), (3600, "60:00"), (-3, "0:00")],
)
def test_a_persons_time_is_always_minutes_and_seconds(seconds: float, shown: str) -> None:
    assert formats.person(seconds) == shown


def test_the_clock_of_a_moment() -> None:
    at_us = 1_795_176_251_000_000
    assert formats.clock(at_us, UTC) == "12:04:11"


@pytest.mark.parametrize(
    ("seconds", "shown"), [(22, "22 s"), (65, "1 min"), (7300, "2 h"), (200_000, "2 d")]
)
def test_how_long_ago_in_the_largest_unit(seconds: float, shown: str) -> None:
    assert formats.ago(seconds) == shown


def test_a_text_is_cut_at_its_end_by_cells_not_by_characters() -> None:
    assert formats.cut("short", 10) == ("short", "")
    assert formats.cut("rm -rf build/ && curl", 16) == ("rm -rf build/", "...")
    kept, dots = formats.cut("日本語日本語", 8)
    assert formats.width(kept + dots) <= 8
    assert formats.cut("anything", 2) == ("", "..")


def test_a_path_is_cut_in_front() -> None:
    assert formats.cut_front(".github/workflows/release.yml", 15) == ".../release.yml"
    assert formats.cut_front("a/b", 10) == "a/b"
    assert formats.width(formats.cut_front("x" * 50, 15)) == 15


def test_the_home_directory_is_a_tilde_and_nothing_else_is() -> None:
    assert formats.home("/home/ana/src", "/home/ana") == "~/src"
    assert formats.home("/home/anabel/src", "/home/ana") == "/home/anabel/src"
    assert formats.home("/src", "") == "/src"


def test_the_short_id_is_a_prefix_that_commands_accept() -> None:
    assert formats.short_id("a41fq7e0") == "#a41f"


@given(
    st.text(st.sampled_from("ab/ \u6f22\u5b57\u0301\U0001f600"), max_size=60), st.integers(0, 30)
)
def test_a_text_cut_at_either_end_fits_and_loses_no_more_than_it_must(
    text: str, cells: int
) -> None:
    kept, dots = formats.cut(text, cells)
    end = formats.cut_front(text, cells)
    assert formats.width(kept + dots) <= cells
    assert formats.width(end) <= cells
    assert text.startswith(kept)
    if formats.width(text) <= cells:
        assert (kept, dots, end) == (text, "", text)
    elif cells > len(formats.DOTS):
        assert dots == formats.DOTS
        assert text.endswith(end.removeprefix(formats.DOTS))
        assert formats.width(end) >= cells - 1


def test_a_text_without_an_end_is_not_measured_again_for_each_of_its_characters() -> None:
    """With a measure of the whole text for each character this would take hours."""
    endless = "\u9577" * 200_000
    assert formats.cut_front(endless, 20) == "..." + "\u9577" * 8
    assert formats.cut(endless, 20) == ("\u9577" * 8, "...")
    line = EditLine("\u9577" * 2_000, 2_000)
    assert line.onto(StyledLine(DARK), 20) == 1_991


@pytest.mark.parametrize(
    ("name", "cells", "cut"),
    [
        ("api", 8, "api"),
        ("project-01", 8, "pro...01"),
        ("project-16", 8, "pro...16"),
        ("watchgate~a1b2", 8, "wat~a1b2"),
        ("watchgate~a1b2", 7, "wa~a1b2"),
        ("watchgate~a1b2c3d4e5", 8, "wat...e5"),
        ("infra-terraform", 16, "infra-terraform"),
        ("日本語のプロジェクト", 8, "日...ト"),
    ],
)
def test_a_cut_name_keeps_what_tells_it_from_others(name: str, cells: int, cut: str) -> None:
    assert formats.cut_name(name, cells) == cut
    assert formats.width(cut) <= cells
