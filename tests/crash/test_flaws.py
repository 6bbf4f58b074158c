"""A core that lies is found, by the same clients and the same look at what it left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.crash.cores import Nursery
from tests.crash.fates import UNHARMED
from tests.crash.places import NEEDS_PIDFD, Place, private

pytestmark = NEEDS_PIDFD


@pytest.mark.parametrize(
    ("flaw", "found"),
    [
        ("keeps nothing", "allowed and not on record|record [0-9]+ is missing"),
        ("forgets grants", "grants are lost"),
    ],
)
def test_a_core_that_promises_what_it_does_not_keep_is_found(
    short_path: Path, flaw: str, found: str
) -> None:
    with Nursery(private(short_path / "warm")) as nursery:
        place = Place(private(short_path / "place"), nursery, 1)
        place.live(UNHARMED)
        with pytest.raises(AssertionError, match=found):
            _two_more(place, flaw)


def test_a_core_that_keeps_its_word_is_not_blamed(short_path: Path) -> None:
    with Nursery(private(short_path / "warm")) as nursery:
        place = Place(private(short_path / "place"), nursery, 1)
        for _ in range(3):
            assert place.live(UNHARMED).served
        place.close()


def _two_more(place: Place, flaw: str) -> None:
    for _ in range(2):
        place.live(UNHARMED, flaw=flaw)
