"""A journal of an older format becomes one of this; killed on the way it stays what it was."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.scribe import Scribe, write_history
from watchgate.service.journal.schema import (
    FORMAT,
    STEPS,
    JournalError,
    open_to_read,
    open_to_write,
)
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal

COUNT = 300


def pragma(path: Path, name: str) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """A journal as format 1 was: the same table in a file that never shrinks."""
    path = tmp_path / "journal.db"
    write_history(path, COUNT)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.executescript("PRAGMA auto_vacuum=NONE; VACUUM; PRAGMA user_version=1")
    return path


def test_a_new_journal_can_give_back_pages(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal.open(path).close()
    assert (pragma(path, "user_version"), pragma(path, "auto_vacuum")) == (FORMAT, 2)


def test_every_older_format_has_its_step() -> None:
    assert sorted(STEPS) == list(range(1, FORMAT))


def test_a_core_brings_an_older_journal_along_and_goes_on_with_it(old: Path) -> None:
    assert pragma(old, "auto_vacuum") == 0
    journal = Journal.open(old)
    Scribe(journal).write(2)
    assert journal.close() == 0
    assert (pragma(old, "user_version"), pragma(old, "auto_vacuum")) == (FORMAT, 2)
    verdict = verify_journal(old)
    assert (verdict.count, verdict.problem) == (COUNT + 2, None)
    assert {file.stat().st_mode & 0o777 for file in old.parent.glob("journal*")} == {0o600}


def test_whoever_only_reads_leaves_it_as_it_is(old: Path) -> None:
    open_to_read(old).close()
    assert verify_journal(old).count == COUNT
    assert pragma(old, "user_version") == 1


def test_an_older_journal_that_was_rebuilt_is_refused(old: Path) -> None:
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("CREATE TABLE other (x)")
    with pytest.raises(JournalError, match="rebuilt by another program"):
        open_to_write(old)


def test_a_step_is_taken_again_where_a_core_was_killed_behind_it(old: Path) -> None:
    open_to_write(old).close()
    with closing(sqlite3.connect(old)) as connection:
        connection.execute("PRAGMA user_version = 1")
    open_to_write(old).close()
    assert (pragma(old, "user_version"), pragma(old, "auto_vacuum")) == (FORMAT, 2)


KILLED = """
import os, signal, sqlite3, sys
from pathlib import Path
from watchgate.service.journal.schema import open_to_write

connect = sqlite3.connect

def doomed(steps):
    def connected(*given, **named):
        connection = connect(*given, **named)
        connection.set_progress_handler(lambda: os.kill(os.getpid(), signal.SIGKILL), steps)
        return connection
    return connected

for copy in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        sqlite3.connect = doomed(int(Path(copy).name))
        open_to_write(Path(copy, "journal.db"))
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_a_core_killed_on_the_way_leaves_the_older_format_whole(old: Path, tmp_path: Path) -> None:
    """Killed for good after so many steps of SQLite's: at first nothing, in the end all is new."""
    steps = [100, 300, 500, 700, 1_000_000]
    copies = [tmp_path / "copies" / str(count) for count in steps]
    for copy in copies:
        shutil.copytree(old.parent, copy, ignore=lambda folder, _: {"copies"})
    done = subprocess.run(
        [sys.executable, "-c", KILLED, *copies], capture_output=True, text=True, check=True
    )
    ends = [int(line) for line in done.stdout.split()]
    assert (ends.count(-9) >= 2, ends[-1]) == (True, 0), "killed on the way, and at last not"
    for copy, end in zip(copies, ends, strict=True):
        path = copy / "journal.db"
        assert verify_journal(path).problem is None
        assert verify_journal(path).count == COUNT
        assert pragma(path, "user_version") == (1 if end else FORMAT)
        open_to_write(path).close()
        assert pragma(path, "auto_vacuum") == 2
