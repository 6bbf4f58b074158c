"""The local days that usage is counted by, wherever this machine is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, date, datetime

import pytest

from watchgate.service.system.local_days import local_day, utc_offset_s

EPOCH = date(1970, 1, 1).toordinal()
MOMENTS = ("2026-11-02T09:59:59", "2026-11-02T10:00:00", "2026-11-02T12:00:00")


@pytest.fixture
def zone(request: pytest.FixtureRequest) -> Iterator[None]:
    """This machine's time zone is another one, told without a data base of zones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


def at_us(text: str) -> int:
    """That moment of UTC."""
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1_000_000


@pytest.mark.parametrize(
    ("zone", "days", "ahead_h"),
    [("UTC0", [2, 2, 2], 0), ("EAST-14", [2, 3, 3], 14), ("WEST12", [1, 1, 2], -12)],
    indirect=["zone"],
)
def test_a_day_ends_at_midnight_on_the_wall(zone: None, days: list[int], ahead_h: int) -> None:
    told = [date.fromordinal(local_day(at_us(each)) + EPOCH).day for each in MOMENTS]
    assert told == days
    assert utc_offset_s(at_us(MOMENTS[0])) == ahead_h * 3600


@pytest.mark.parametrize("zone", ["CET-1CEST,M3.5.0,M10.5.0/3"], indirect=True)
def test_a_moment_has_the_days_of_its_own_time_of_the_year(zone: None) -> None:
    summer, winter = at_us("2026-07-01T22:30:00"), at_us("2026-12-01T22:30:00")
    assert local_day(summer) + EPOCH == date(2026, 7, 2).toordinal()
    assert local_day(winter) + EPOCH == date(2026, 12, 1).toordinal()
    assert (utc_offset_s(summer), utc_offset_s(winter)) == (7200, 3600)


def test_a_moment_beyond_all_calendars_has_a_day_too() -> None:
    assert local_day(1 << 62) == (1 << 62) // 1_000_000 // 86_400
    assert utc_offset_s(1 << 62) == 0
