"""A filter of the common picture, in the words of one of its cores."""

from __future__ import annotations

import pytest

from tests.ui.picture import NOW_US
from watchgate.ui.fleet.fleet_calls import for_host


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("", ""),
        ("risk:high rm", "risk:high rm"),
        ("host:lab2 rm", "rm"),
        ("host:lab* rm", "rm"),
        ("-host:here rm", "rm"),
        ("host:here rm", None),
        ("-host:lab2 rm", None),
        ("session:lab2/s1 rm", "session:s1 rm"),
        ("session:lab2:api", "session:api"),
        ("session:here/s1", None),
        ("session:api", "session:api"),
        ("request:lab2/a41f", "request:a41f"),
        ("request:a41f", "request:a41f"),
        ('"never closed', '"never closed'),
    ],
)
def test_each_core_is_asked_in_its_own_words(text: str, own: str | None) -> None:
    assert for_host(text, "lab2", NOW_US) == own
