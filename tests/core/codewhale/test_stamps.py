from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from watchgate.core.codewhale import read_stamp, write_stamp

NOON_US = 1_780_228_768_000_000


def test_cw_5_a_stamp_has_a_numeric_offset() -> None:
    assert write_stamp(NOON_US + 482_913) == "2026-05-31T11:59:28.482913+00:00"


@pytest.mark.parametrize(
    ("part", "extra_us"),
    [
        ("", 0),
        (".1", 100_000),
        (".10", 100_000),
        (".482", 482_000),
        (".482913", 482_913),
        (".4829137", 482_913),
        (".482913799", 482_913),
    ],
)
@pytest.mark.parametrize("offset", ["+00:00", "Z", "-00:00"])
def test_cw_5_a_stamp_with_0_to_9_fractional_digits_is_read(
    part: str, extra_us: int, offset: str
) -> None:
    assert read_stamp(f"2026-05-31T11:59:28{part}{offset}") == NOON_US + extra_us


def test_an_offset_counts() -> None:
    assert read_stamp("2026-05-31T13:59:28+02:00") == NOON_US


@pytest.mark.parametrize(
    "at",
    [
        "",
        "now",
        "2026-05-31",
        "2026-05-31T11:59:28",
        "2026-05-31T11:59:28.1234567890+00:00",
        "2026-02-30T11:59:28+00:00",
        "2026-05-31T11:59:28.+00:00",
    ],
)
def test_any_other_text_is_no_stamp(at: str) -> None:
    assert read_stamp(at) is None


@given(st.integers(0, 253_402_300_799_999_999))
def test_what_is_written_is_read_as_the_same_moment(wall_us: int) -> None:
    assert read_stamp(write_stamp(wall_us)) == wall_us
