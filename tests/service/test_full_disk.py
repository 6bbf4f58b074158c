"""A journal on a disk that is full: nothing is claimed, nothing is lost, and it comes back."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.small_disk import CANNOT, with_small_disk

ROOT = Path(__file__).parents[2]

WRITING = """
import sys
from pathlib import Path
import msgspec
from tests.service.scribe import Scribe, open_impatient
from tests.service.small_disk import fill
from watchgate.service.journal.verification import verify_journal

path = Path(sys.argv[1]) / "journal.db"
journal = open_impatient(path)
scribe = Scribe(journal)
scribe.write(10)
before = scribe.commit()
ballast = fill(path.parent)
scribe.write(300, text="x" * 1000)
full = scribe.commit()
lost = journal.lost
partly = verify_journal(path)
scribe.write(5)
still = scribe.commit()
ballast.unlink()
after = scribe.commit()
back = journal.lost
left = journal.close()
told = [before, full, still, after, lost, back, left, partly, verify_journal(path)]
print(msgspec.json.encode(told).decode())
"""

STARTING = """
import sys
from pathlib import Path
import anyio, msgspec
from tests.service.scribe import Scribe
from tests.service.small_disk import fill
from watchgate.core.state.state import State
from watchgate.service.journal import unusable
from watchgate.service.journal.unusable import open_journal, usable_again
from watchgate.service.journal.verification import verify_journal

unusable.TRY_EACH_S = 0.001
path = Path(sys.argv[1]) / "journal.db"
ballast = fill(path.parent)
journal, _ = open_journal(path, State)
lost = journal.lost
scribe = Scribe(journal)
scribe.write(3)
kept = scribe.commit()
ballast.unlink()
anyio.run(usable_again, journal, State)
real, _ = open_journal(path, State)
again = Scribe(real)
again.write()
told = [lost, kept, journal.dropped, real.fault, again.commit(), verify_journal(path)]
print(msgspec.json.encode(told).decode())
real.close()
"""


def on_small_disk(folder: Path, script: str) -> Any:
    folder.mkdir()
    run = with_small_disk(folder)
    if run is None:
        pytest.skip(CANNOT)
    done = subprocess.run(
        [*run, sys.executable, "-c", script, folder], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    return msgspec.json.decode(done.stdout)


def test_what_finds_no_room_waits_and_is_written_when_there_is_some(tmp_path: Path) -> None:
    before, full, still, after, lost, back, left, partly, whole = on_small_disk(
        tmp_path / "disk", WRITING
    )
    assert (before, full, still, after) == (True, False, False, True)
    assert lost.endswith("found no space on its disk: make room there")
    assert (back, left) == ("", 0)
    assert (partly["count"], partly["problem"]) == (10, None), "nothing half"
    assert (whole["count"], whole["problem"]) == (315, None)


def test_a_core_that_starts_on_a_full_disk_waits_for_room(tmp_path: Path) -> None:
    lost, kept, dropped, fault, again, verdict = on_small_disk(tmp_path / "disk", STARTING)
    assert lost.endswith("found no space on its disk: make room there")
    assert (kept, dropped) == (False, 3)
    assert (fault, again) == (None, True)
    assert (verdict["count"], verdict["problem"]) == (1, None)
