"""Times and amounts on the page are in the words of the screen, and an unknown is never a zero."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone

import pytest

from tests.core.report.told import NOON_US
from watchgate.core.report import report_html

EAST = timezone(timedelta(hours=5, minutes=30))


def test_times_are_by_the_clock_of_the_zone() -> None:
    assert report_html.clock_text(NOON_US, UTC) == "12:00:00"
    assert report_html.clock_text(NOON_US, EAST) == "17:30:00"
    assert report_html.day_text(NOON_US, UTC) == "Fri 20 Nov 2026"
    assert report_html.day_text(NOON_US + 7 * 3_600_000_000, EAST) == "Sat 21 Nov 2026"
    assert report_html.offset(NOON_US, EAST) == "UTC+05:30"


@pytest.mark.parametrize("at_us", [2**62, -(2**62)])
def test_a_time_that_no_clock_shows_is_not_made_up(at_us: int) -> None:
    assert (report_html.clock_text(at_us, UTC), report_html.day_text(at_us, UTC)) == ("?", "?")


@pytest.mark.parametrize(
    ("ms", "shown"),
    [(0, "0 ms"), (0.4, "0.4 ms"), (41, "41 ms"), (3_400, "3.4 s"), (125_000, "2:05"),
     (4_320_000, "1 h 12 min")],
)  # fmt: skip
def test_elapsed_time_is_in_its_largest_unit(ms: float, shown: str) -> None:
    assert report_html.elapsed_text(ms) == shown


@pytest.mark.parametrize(
    ("nano", "shown"),
    [(None, "?"), (0, "$0.00"), (4_000_000, "$0.004"), (1_234_500_000_000, "$1,234.50")],
)
def test_money(nano: int | None, shown: str) -> None:
    assert report_html.money(nano) == shown
