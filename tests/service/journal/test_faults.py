"""What goes wrong with the journal while a core writes it: told, waited for, and made up for."""

from __future__ import annotations

import os
import resource
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from tests.service.scribe import Scribe
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal, Pace

QUICK = Pace(flush_s=0.001, retry_s=3_600)
"""Tried again by a commit only, so that a test says when."""

Fault = Callable[[sqlite3.Connection, Path], AbstractContextManager[None]]


@contextmanager
def no_pages_left(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    connection.execute("PRAGMA max_page_count = 1")  # as few as there are
    yield
    connection.execute("PRAGMA max_page_count = 1000000")


@contextmanager
def locked(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextmanager
def read_only(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    connection.execute("PRAGMA query_only = ON")
    yield
    connection.execute("PRAGMA query_only = OFF")


@contextmanager
def no_more_written(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Every file of this process ends where the log does now: SQLite's next write fails."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(
        resource.RLIMIT_FSIZE, (path.with_name("journal.db-wal").stat().st_size, hard)
    )
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@contextmanager
def moved_away(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    path.rename(path.with_name("elsewhere.db"))
    yield
    path.with_name("elsewhere.db").rename(path)


@contextmanager
def its_log_moved_away(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    log = path.with_name("journal.db-wal")
    log.rename(path.with_name("elsewhere.db-wal"))
    yield
    path.with_name("elsewhere.db-wal").rename(log)


@contextmanager
def its_shared_memory_moved_away(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    memory = path.with_name("journal.db-shm")
    memory.rename(path.with_name("elsewhere.db-shm"))
    yield
    path.with_name("elsewhere.db-shm").rename(memory)


@contextmanager
def no_head_file(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """It is gone, and what it is made anew as cannot be made."""
    path.with_name("journal.head").unlink()
    blocking = path.with_name("journal.head.new")
    blocking.mkdir()
    yield
    blocking.rmdir()


FAULTS: dict[Fault, str] = {
    no_pages_left: "found no space on its disk: make room there",
    locked: "is locked by another program: end that one",
    read_only: "give yourself write access to it",
    no_more_written: "failed: disk I/O error",
    moved_away: "moved or removed, restart the core",
    its_log_moved_away: "moved or removed, restart the core",
    its_shared_memory_moved_away: "moved or removed, restart the core",
    no_head_file: "journal.head.new",
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_fault_is_told_and_what_came_meanwhile_is_written_when_it_is_over(
    tmp_path: Path, fault: Fault
) -> None:
    path = tmp_path / "journal.db"
    opened: list[sqlite3.Connection] = []

    def connected(path: Path) -> sqlite3.Connection:
        opened.append(open_to_write(path, busy_timeout_s=0))
        return opened[0]

    journal = Journal.open(path, pace=QUICK, connect=connected)
    scribe = Scribe(journal)
    scribe.write(20)
    assert scribe.commit()
    with fault(opened[0], path):
        scribe.write(300, text="x" * 500)
        assert not scribe.commit()
        assert FAULTS[fault] in journal.lost
        scribe.write(2)
        assert not scribe.commit(), "it stays so while it is so"
    assert scribe.commit()
    assert (journal.lost, journal.dropped, journal.close()) == ("", 0, 0)
    verdict = verify_journal(path)
    assert (verdict.count, verdict.problem) == (322, None)


def test_a_journal_of_damaged_pages_is_lost_and_keeps_what_came(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    opened: list[sqlite3.Connection] = []

    def connected(path: Path) -> sqlite3.Connection:
        opened.append(open_to_write(path))
        return opened[0]

    journal = Journal.open(path, pace=QUICK, connect=connected)
    scribe = Scribe(journal)
    scribe.write(500)
    assert scribe.commit()
    opened[0].execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    overwrite(path, b"\xaa" * (path.stat().st_size - 8_192), at=8_192)
    opened[0].execute("PRAGMA shrink_memory")
    scribe.write(3)
    assert not scribe.commit()
    assert "is damaged: stop the core and move it away" in journal.lost
    assert journal.close() == 3


def overwrite(path: Path, content: bytes, at: int) -> None:
    with path.open("r+b") as file:
        file.seek(at)
        file.write(content)
        os.fsync(file.fileno())
