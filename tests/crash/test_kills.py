"""Cores are killed at every step that leaves something behind, in the middle of writes, and at any
moment. Whatever their clients heard until then is borne out by what is found afterwards.

`WATCHGATE_CRASHES` is how many die in all; on a failure the seed and the fate are in its message.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random
from typing import Literal

import msgspec
import pytest

from tests.crash.cores import Nursery
from tests.crash.fates import UNHARMED, Fate
from tests.crash.places import NEEDS_PIDFD, Place, private

pytestmark = NEEDS_PIDFD

CRASHES = int(os.environ.get("WATCHGATE_CRASHES", "1000"))
SHARES = 4
LIVES = 20
"""How many cores live in one place: what they leave grows."""

NAMED = {
    "row queued",
    "journal.db BEGIN",
    "journal.db INSERT",
    "journal.db COMMIT",
    "journal.head pwrite",
    "journal.head fdatasync",
    "commit asked",
    "commit told",
    "ingest.sock send",
    "control.sock send",
    "grants.json.new replace",
    "off.new replace",
    "off unlink",
    "journal.db DELETE",
    "journal.db UPDATE",
    "journal.index.db INSERT",
    "journal.index.db COMMIT",
}
"""Some of the steps that leave something behind; every one that is taken is tried."""

SIDES: tuple[Literal["before", "after"], ...] = ("before", "after")
TRIES = 20
TIMES = 4
LONGEST_LIFE_S = 0.1
LARGEST_LOG_BYTES = 60_000


@pytest.mark.parametrize("share", range(SHARES))
def test_no_kill_makes_a_liar_of_a_core(short_path: Path, share: int) -> None:
    random = Random(share)
    due = max(CRASHES // SHARES, 1)
    with Nursery(private(short_path / "warm")) as nursery:
        steps = _steps(Place(private(short_path / "steps"), nursery, share))
        mine = sorted(steps)[share::SHARES]
        fates = _at_steps({step: steps[step] for step in mine})
        random.shuffle(fates)
        met: Counter[str] = Counter()
        # None outlives its test: whoever is born dies, and what it leaves is looked at.
        while nursery.born < due or fates:
            if fates and fates[0].number == 1 and fates[0].tries < TRIES:
                # Some steps are taken in a place's first life alone, where its journal is made.
                fates.append(fates.pop(0))
            top = private(short_path / f"place-{nursery.born}")
            place = Place(top, nursery, random.randrange(2**32))
            for _ in range(LIVES):
                fate = fates.pop() if fates else _somewhere(random, steps, place)
                core = place.live(fate)
                if fate.step and not core.met and fate.tries:
                    fates.insert(0, msgspec.structs.replace(fate, tries=fate.tries - 1))
                met[core.met_how] += 1
            place.close()
    missed = [step for step in mine if not met[step]]
    assert not missed, f"no core died at {missed}"
    assert met["torn"]
    assert met["moment"]


def test_a_core_takes_every_step_that_has_a_name_here(short_path: Path) -> None:
    with Nursery(private(short_path / "warm")) as nursery:
        steps = _steps(Place(private(short_path / "steps"), nursery, 1))
    assert set(steps) >= NAMED, f"not taken: {NAMED - set(steps)}"


def _steps(place: Place) -> Counter[str]:
    """How often a core takes each step in a life that ends as late as it can."""
    most: Counter[str] = Counter()
    for _ in range(8):
        place.live(UNHARMED, tells_steps=True)
        most |= place.steps()
    return most


def _at_steps(steps: Mapping[str, int]) -> list[Fate]:
    """Every step for the first few times that it is taken, on either side."""
    return [
        Fate(step=step, number=number, side=side, tries=TRIES if number == 1 else 0)
        for step, count in steps.items()
        for number in range(1, min(count, TIMES) + 1)
        for side in SIDES
    ]


def _somewhere(random: Random, steps: Counter[str], place: Place) -> Fate:
    """A step like any other, a torn write, or just a moment."""
    how = random.randrange(4)
    if how == 0:
        return Fate(torn_at_bytes=place.log_bytes + random.randrange(LARGEST_LOG_BYTES))
    if how == 1:
        return Fate(after_s=random.random() * LONGEST_LIFE_S)
    step = random.choice(sorted(steps))
    return Fate(step=step, number=random.randint(1, steps[step]), side=random.choice(SIDES))
