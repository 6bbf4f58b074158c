"""Faults of the journal: its file, its disk, and who else has hold of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

from tests.crash.small_disk import why_not
from tests.e2e.programs import until
from tests.faults.trial import Trial
from tests.faults.words import Component, Fault, Gets, Where, healthy

SMALL = """mount -t tmpfs -o size=2097152,mode=700 tmpfs "$WATCHGATE_STATE_DIR" || exit 77"""
READ_ONLY = f'{SMALL}\nmount -o remount,ro "$WATCHGATE_STATE_DIR" || exit 77'
DAMAGE_BYTES = 65_536
OF = Component.JOURNAL


@contextmanager
def full_disk(trial: Trial) -> Iterator[None]:
    """There is no room left until all have their answer."""
    trial.world.start()
    filler = trial.world.mounted / "filler"
    with filler.open("ab", buffering=0) as file:
        for size_bytes in (65_536, 4_096, 1):
            # Larger pieces first, for each is refused while there is room for smaller ones.
            with suppress(OSError):
                while True:
                    file.write(bytes(size_bytes))
    trial.ask("gate", name="the one that meets it").done()
    yield
    filler.unlink()
    until(lambda: not _is_lost(trial), "room", every_s=0.2)


def _is_lost(trial: Trial) -> bool:
    return "make room" in str(trial.world.ask("attach")["snapshot"]["gate"]["journal"])


def moved_away(trial: Trial) -> None:
    """The file is taken away under the core."""
    path = trial.world.paths.journal
    trial.world.keeps = False
    trial.world.journal = path.rename(trial.world.top / "journal.db")
    for name in ("journal.db-wal", "journal.db-shm", "journal.head"):
        file = trial.world.paths.state_dir / name
        if file.exists():
            file.rename(trial.world.top / name)


@contextmanager
def locked(trial: Trial) -> Iterator[None]:
    """Another program writes to the file and does not end."""
    trial.world.start()
    with closing(sqlite3.connect(trial.world.paths.journal, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def damaged(trial: Trial) -> Iterator[None]:
    """The file was overwritten between two cores."""
    trial.world.start()
    trial.world.newest()
    trial.world.bury()
    path = trial.world.paths.journal
    path.write_bytes(b"\xff" * DAMAGE_BYTES)
    path.with_name("journal.db-wal").write_bytes(b"")
    trial.world.journal, trial.world.keeps = None, False
    trial.world.start()
    yield


@contextmanager
def read_only(trial: Trial) -> Iterator[None]:
    """The core starts on a disk that cannot be written."""
    trial.world.journal, trial.world.keeps = None, False
    trial.world.start()
    yield


JOURNAL = (
    Fault(
        what="its disk is full",
        of=OF,
        gate_read=Gets.HELD,
        relay=Gets.HELD,
        because="make room there",
        where=Where(mount=SMALL, alone=True),
        harm=full_disk,
        why_not=why_not,
    ),
    Fault(
        what="its disk cannot be written",
        of=OF,
        observe=Gets.DROPPED,
        gate_read=Gets.HELD,
        relay=Gets.HELD,
        because="journal",
        where=Where(mount=READ_ONLY, alone=True),
        harm=read_only,
        why_not=why_not,
    ),
    Fault(
        what="is taken away under the core",
        of=OF,
        observe=Gets.DROPPED,
        because="journal",
        where=Where(alone=True),
        harm=healthy,
        strike=moved_away,
    ),
    Fault(
        what="another program has locked it",
        of=OF,
        because="journal",
        where=Where(alone=True),
        harm=locked,
    ),
    Fault(
        what="is damaged",
        of=OF,
        observe=Gets.DROPPED,
        gate_read=Gets.HELD,
        relay=Gets.HELD,
        because="journal",
        where=Where(alone=True),
        harm=damaged,
    ),
)
