"""Moments as a person writes them, read at Fri 20 Nov 2026, 12:04:48."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from watchgate.core.base.time_parsing import since_us, until_us, write_utc

NOW = datetime(2026, 11, 20, 12, 4, 48, tzinfo=UTC)
NOW_US = int(NOW.timestamp()) * 1_000_000


def _us(*parts: int, zone: tzinfo = UTC) -> int:
    return int(datetime(*parts, tzinfo=zone).timestamp()) * 1_000_000  # type: ignore[misc,arg-type]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("48s", (2026, 11, 20, 12, 4)),
        ("30m", (2026, 11, 20, 11, 34, 48)),
        ("2H", (2026, 11, 20, 10, 4, 48)),
        ("7d", (2026, 11, 13, 12, 4, 48)),
        ("1w", (2026, 11, 13, 12, 4, 48)),
        ("12:04", (2026, 11, 20, 12, 4)),
        ("12:05", (2026, 11, 19, 12, 5)),
        ("12:04:49", (2026, 11, 19, 12, 4, 49)),
        ("today", (2026, 11, 20)),
        ("Yesterday", (2026, 11, 19)),
        ("2026-11-01", (2026, 11, 1)),
        ("2026-11-20T12:04", (2026, 11, 20, 12, 4)),
        ("2026-11-20 12:04:11", (2026, 11, 20, 12, 4, 11)),
    ],
)
def test_since(text: str, parts: tuple[int, ...]) -> None:
    assert since_us(text, NOW_US, UTC) == _us(*parts)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("2h", (2026, 11, 20, 10, 4, 48)),
        ("12:04", (2026, 11, 20, 12, 5)),
        ("12:04:11", (2026, 11, 20, 12, 4, 12)),
        ("23:00", (2026, 11, 20, 23, 1)),
        ("yesterday", (2026, 11, 20)),
        ("2026-11-01", (2026, 11, 2)),
    ],
)
def test_until_takes_all_of_what_is_named(text: str, parts: tuple[int, ...]) -> None:
    assert until_us(text, NOW_US, UTC) == _us(*parts)


def test_days_and_times_are_those_of_the_clock_on_the_screen() -> None:
    zone = timezone(timedelta(hours=13))
    assert since_us("today", NOW_US, zone) == _us(2026, 11, 21, zone=zone)
    assert since_us("01:00", NOW_US, zone) == _us(2026, 11, 21, 1, zone=zone)


def test_what_is_written_out_is_read_alike_in_every_zone() -> None:
    text = write_utc(NOW_US + 5)
    assert text == "2026-11-20T12:04:48Z"
    for zone in (UTC, timezone(timedelta(hours=-9))):
        assert since_us(text, 0, zone) == NOW_US
        assert until_us(text, 0, zone) == NOW_US + 1_000_000


def test_the_last_day_of_all_is_a_day() -> None:
    assert until_us("9999-12-31", NOW_US, UTC) == _us(9999, 12, 31) + 86_400_000_000


def test_longer_ago_than_clocks_began_is_their_beginning() -> None:
    assert since_us("999999999w", NOW_US, UTC) == 0
    assert since_us("0001-01-02", NOW_US, UTC) == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "7",
        "7 d",
        "²m",
        "1e3s",
        "-1d",
        "25:00",
        "12:60",
        "1:00",
        "2026-13-01",
        "9999999999s",
    ],
)
def test_what_is_no_time_says_what_is(text: str) -> None:
    for read in (since_us, until_us):
        with pytest.raises(ValueError, match="it takes 30m, 2h"):
            read(text, NOW_US, UTC)


@pytest.fixture
def in_berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The machine's clock is that of Berlin, told without a data base of zones."""
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("day", "hours"), [("2026-10-25", 25), ("2026-03-29", 23), ("2026-06-01", 24)]
)
def test_a_day_lasts_until_the_next_one_where_clocks_are_changed(
    in_berlin: None, day: str, hours: int
) -> None:
    assert until_us(day, NOW_US) - since_us(day, NOW_US) == hours * 3_600_000_000
