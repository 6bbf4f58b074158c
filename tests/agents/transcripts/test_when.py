from __future__ import annotations

from typing import Any

import pytest

from watchgate.agents.transcripts.transcript_lines import moment_us


@pytest.mark.parametrize(
    ("said", "at_us"),
    [
        ("2026-11-22T12:00:00.000Z", 1_795_348_800_000_000),
        ("2026-11-22T13:00:00+01:00", 1_795_348_800_000_000),
        ("2026-11-22T12:00:00", 1_795_348_800_000_000),
        (1_795_348_800_000, 1_795_348_800_000_000),
        ("soon", 0),
        (None, 0),
        (True, 0),
        (-5, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (10**30, 0),
        ("0001-01-01T00:00:00+23:59", 0),
    ],
)
def test_a_moment_is_an_iso_text_or_milliseconds(said: Any, at_us: int) -> None:
    assert moment_us(said) == at_us
