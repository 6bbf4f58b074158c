"""Another program that writes to the journal is noticed before an allow is told."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.scribe import Scribe
from watchgate.service.history.session_purge import empty_log
from watchgate.service.journal.schema import open_to_read
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal, Pace

QUICK = Pace(flush_s=0.01, retry_s=0.01, look_s=0.02)
TOLD = "another program has written to it"
COPYING = (
    "INSERT INTO record SELECT seq + 50, v, core, at, kind, agent, session, sub, call, request,"
    " data, digest, prev, hash FROM record WHERE seq = 1"
)
DROPPING = "CREATE TRIGGER t BEFORE INSERT ON record BEGIN SELECT raise(IGNORE); END"


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    journal = Journal.open(tmp_path / "journal.db", pace=QUICK)
    yield journal
    journal.close()


def foreign(journal: Journal, statement: str) -> None:
    """What a program does that has nothing to do with us."""
    with closing(sqlite3.connect(journal.path, isolation_level=None)) as other:
        other.execute(statement)


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it never became true"
        time.sleep(0.005)


@pytest.mark.parametrize(
    "statement",
    [
        DROPPING,
        "DELETE FROM record WHERE seq = 2",
        "UPDATE record SET data = '{}' WHERE seq = 1",
        "CREATE TABLE more (x)",
        COPYING,
    ],
)
def test_no_commit_is_kept_once_another_program_has_written(
    journal: Journal, statement: str
) -> None:
    scribe = Scribe(journal)
    scribe.write(3)
    assert scribe.commit()
    foreign(journal, statement)
    scribe.write()
    assert not scribe.commit()
    assert TOLD in journal.lost
    assert TOLD in journal.foreign
    scribe.write()
    assert not scribe.commit(), "it stays so"


def test_it_is_noticed_although_nothing_is_written(journal: Journal) -> None:
    scribe = Scribe(journal)
    scribe.write()
    assert scribe.commit()
    foreign(journal, "DELETE FROM record")
    until(lambda: journal.lost)
    assert TOLD in journal.lost


def test_what_comes_afterwards_is_written_as_evidence(journal: Journal) -> None:
    scribe = Scribe(journal)
    scribe.write(3)
    assert scribe.commit()
    foreign(journal, "DELETE FROM record WHERE seq = 2")
    scribe.write(2)
    assert not scribe.commit()
    with closing(open_to_read(journal.path)) as reading:
        found = [seq for (seq,) in reading.execute("SELECT seq FROM record ORDER BY seq")]
    assert found == [1, 3, 4, 5]
    assert (problem := verify_journal(journal.path).problem) is not None
    assert problem.seq in (2, 3)


def test_readers_and_the_core_itself_are_no_other_writers(journal: Journal) -> None:
    scribe = Scribe(journal)
    scribe.write(300)
    assert scribe.commit()
    with closing(open_to_read(journal.path)) as reading:
        reading.execute("SELECT count(*) FROM record").fetchone()
        verify_journal(journal.path)
        scribe.write(300)
        assert scribe.commit()
    done: list[object] = []
    journal.remove([100], done.append)
    until(lambda: done)
    journal.empty_log(done.append)
    until(lambda: len(done) == 2)
    assert done == ["", True]
    scribe.write()
    assert scribe.commit()
    assert journal.lost == ""


def test_a_log_emptied_by_anybody_else_is_a_foreign_write(journal: Journal) -> None:
    scribe = Scribe(journal)
    scribe.write()
    assert scribe.commit()
    assert empty_log(journal.path)
    scribe.write()
    assert not scribe.commit()
