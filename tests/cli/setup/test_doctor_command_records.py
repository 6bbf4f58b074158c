"""The doctor where a real core cannot record, so that every acting call is denied."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress

import pytest

from tests.crash.small_disk import why_not
from tests.e2e.programs import until
from tests.faults.of_journal import SMALL
from tests.faults.words import Where
from tests.faults.world import ROOT, World
from watchgate.cli.base.printing import Exit

NO_SMALL_DISK = why_not()


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    world = World(Where(mount=getattr(request, "param", "")))
    world.start()
    yield world
    world.end()


def doctor(world: World, *before: str) -> subprocess.CompletedProcess[str]:
    """What `watchgate doctor` says beside this core, started by `before`."""
    command = [*before, sys.executable, "-m", "watchgate", "doctor"]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=world.env, cwd=ROOT
    )


def is_lost(world: World) -> bool:
    return str(world.ask("attach")["snapshot"]["gate"]["journal"]) != "ok"


def test_beside_a_core_that_records_it_passes(world: World) -> None:
    said = doctor(world)

    assert (said.returncode, said.stderr) == (Exit.DONE, "")
    assert said.stdout.splitlines()[-1].endswith("; exit 0")


def test_a_journal_that_was_taken_away_is_told_with_what_follows(world: World) -> None:
    path = world.paths.journal
    for name in ("journal.db", "journal.db-wal", "journal.db-shm", "journal.head"):
        path.with_name(name).unlink(missing_ok=True)
    until(lambda: is_lost(world), "that the journal is lost")

    said = doctor(world)

    assert said.returncode == Exit.REFUSED
    assert "fail  records: JOURNAL LOST, so every acting call is denied: " in said.stdout
    assert "`watchgate off 30m` hands calls back to the agents meanwhile" in said.stdout
    assert "to mend: records; exit 1" in said.stdout


@pytest.mark.skipif(bool(NO_SMALL_DISK), reason=NO_SMALL_DISK)
@pytest.mark.parametrize("world", [SMALL], indirect=True)
def test_a_full_disk_is_told_before_the_core_met_it_and_after(world: World) -> None:
    with (world.mounted / "filler").open("ab", buffering=0) as file:
        for size_bytes in (65_536, 4_096, 1):
            with suppress(OSError):
                while True:
                    file.write(bytes(size_bytes))

    user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
    early = doctor(world, "nsenter", "--target", str(world.pid), "--mount", "--wd=/", *user)
    until(lambda: is_lost(world), "that the journal is lost")
    late = doctor(world)

    assert (early.returncode, late.returncode) == (Exit.REFUSED, Exit.REFUSED)
    assert "fail  disk: " in early.stdout
    assert f"mend: make room on the disk of {world.paths.state_dir}" in early.stdout
    assert "JOURNAL LOST, so every acting call is denied: " in late.stdout
    assert "make room there" in late.stdout
