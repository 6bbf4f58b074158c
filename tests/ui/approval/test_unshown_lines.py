"""What was on the screen is counted line by line; a jump shows only where it lands."""

from __future__ import annotations

from watchgate.ui.approval.unshown_lines import Unshown


def laid_out(count: int) -> Unshown:
    lines = Unshown()
    lines.lay_out("80 columns", range(count))
    return lines


def test_all_was_shown_once_every_line_was() -> None:
    lines = laid_out(30)
    lines.show(0, 10)
    lines.show(10, 20)
    assert not lines.all_shown
    lines.show(20, 40)
    assert lines.all_shown


def test_a_jump_to_the_end_leaves_the_middle_unshown() -> None:
    lines = laid_out(30)
    lines.show(0, 10)
    lines.show(20, 30)
    assert not lines.all_shown
    assert lines.above(20) == (10, 19)


def test_the_middle_may_be_shown_in_any_order() -> None:
    lines = laid_out(30)
    lines.show(20, 30)
    lines.show(0, 5)
    assert lines.above(20) == (5, 19)
    lines.show(12, 20)
    assert lines.above(20) == (5, 11)
    lines.show(5, 12)
    assert lines.all_shown
    assert lines.above(20) is None


def test_only_the_first_stretch_is_named() -> None:
    lines = laid_out(30)
    lines.show(0, 5)
    lines.show(10, 15)
    lines.show(20, 30)
    assert lines.above(30) == (5, 9)


def test_what_stands_below_was_not_jumped_over() -> None:
    lines = laid_out(30)
    lines.show(0, 10)
    assert lines.above(0) is None
    assert lines.above(12) == (10, 11)


def test_the_same_layout_goes_on_and_another_one_starts_anew() -> None:
    lines = laid_out(10)
    lines.show(0, 9)
    lines.lay_out("80 columns", range(10))
    assert lines.above(10) == (9, 9)
    lines.lay_out("60 columns", range(14))
    lines.show(0, 5)
    assert lines.above(14) == (5, 13)


def test_nothing_laid_out_is_nothing_shown() -> None:
    assert not Unshown().all_shown
