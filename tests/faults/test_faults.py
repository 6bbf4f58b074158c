"""Each fault of the matrix on a real core and real hooks: every agent gets what the table says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.identity.asking import Asking, Terminal, decision
from tests.faults.agent import read
from tests.faults.matrix import FAULTS
from tests.faults.of_console import agents_of_their_own
from tests.faults.trial import Trial
from tests.faults.words import Fault, Gets, Where
from tests.faults.world import World


@pytest.fixture(scope="module")
def worlds() -> Iterator[dict[Where, World]]:
    """Cores that several faults share, each as long as it lives."""
    worlds: dict[Where, World] = {}
    yield worlds
    for world in worlds.values():
        world.end()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.slug)
def test_every_lane_gets_what_the_table_says(fault: Fault, worlds: dict[Where, World]) -> None:
    if missing := fault.why_not():
        pytest.skip(missing)
    if fault.where not in worlds:
        worlds[fault.where] = World(fault.where)
    world = worlds.pop(fault.where) if fault.where.alone else worlds[fault.where]
    try:
        Trial(fault, world).run()
    except BaseException:
        # What is left of it must not be another fault's.
        worlds.pop(fault.where, None)
        world.end()
        raise
    if fault.where.alone:
        world.end()


def test_an_allow_that_no_journal_takes_reaches_nobody(tmp_path: Path) -> None:
    """What is held without a journal may be denied; an allow of it is handed back."""
    (fault,) = [each for each in FAULTS if each.slug == "journal-is-damaged"]
    world = World(fault.where)
    trial = Trial(fault, world)
    window = Terminal()
    try:
        with fault.harm(trial), agents_of_their_own(trial):
            for lane in ("gate-read", "relay"):
                hook = trial.ask(lane)
                trial.is_held(lane)
                request = world.held(trial.session(lane))
                assert request is not None
                place, allow = world.paths.control_socket, decision(request, "allow")
                (said,) = window.run(Asking(place, tmp_path, allow)).answers()
                assert (said["refused"], said["word"]) == ("already_settled", "handed-back")
                assert read(lane, hook.done()) is Gets.NO_OPINION
    finally:
        window.close()
        trial.end()
        world.end()
