"""One place in which core after core lives and is killed."""

from __future__ import annotations

import os
from collections import Counter
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from tests.crash.clients import Control, Gone
from tests.crash.cores import Core, Nursery
from tests.crash.evidence import Evidence, check_restart
from tests.crash.fates import UNHARMED, Birth, Fate
from tests.crash.ledger import Promises
from tests.crash.script import Life

NEEDS_PIDFD = pytest.mark.skipif(
    not hasattr(os, "pidfd_open"), reason="waits for a process as Linux does"
)
NEW_DAY = 0.3
"""How often the next core finds what the one before it wrote too old to be kept."""


def private(path: Path) -> Path:
    """This directory, made for its owner alone."""
    path.mkdir(mode=0o700)
    return path


class Place:
    """A row of cores over the same journal; each finds what the one before it left."""

    def __init__(self, top: Path, nursery: Nursery, seed: int) -> None:
        self.top = top
        self._nursery = nursery
        self._random = Random(seed)
        self._promises = Promises()
        self._evidence = Evidence(top / "state", self._promises)
        self._lives = 0
        self._day = 0

    @property
    def log_bytes(self) -> int:
        """How long the journal's log is."""
        log = self.top / "state" / "journal.db-wal"
        return log.stat().st_size if log.exists() else 0

    def steps(self) -> Counter[str]:
        """The steps that the last core took, of those that told them."""
        return Counter((self.top / "steps").read_text().split("\n")[:-1])

    def live(self, fate: Fate, *, tells_steps: bool = False, flaw: str = "") -> Core:
        """One more core until its death, and what it left is checked."""
        self._lives += 1
        self._day += self._random.random() < NEW_DAY
        birth = Birth(
            place=str(self.top),
            name=f"n{self._lives:03d}",
            day=self._day,
            fate=fate,
            tells_steps=tells_steps,
            flaw=flaw,
        )
        (self.top / "steps").unlink(missing_ok=True)
        core = self._nursery.start(birth)
        life = Life(self.top / "run", birth.name, self._random, self._promises)
        try:
            if core.served:
                self._play(life)
        finally:
            core.kill()
            life.end()
        try:
            self._evidence.check()
        except Exception as fault:
            fault.add_note(f"after {birth}")
            raise
        return core

    def close(self) -> None:
        """A last core that nothing happens to, and the index as it is then."""
        self.live(UNHARMED)
        self._evidence.check_index()

    def _play(self, life: Life) -> None:
        run = self.top / "run"
        with suppress(Gone), Control(run / "control.sock") as operator:
            grants = check_restart(operator, run / "off", self._promises)
            life.play(operator, grants)
