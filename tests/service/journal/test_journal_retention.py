"""The oldest records leave a journal that is being written, and what is left still verifies."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import anyio
import pytest
from anyio import to_thread

from tests.service.scribe import Scribe, committed, open_impatient, write_history
from watchgate.core.base.clock import Instant
from watchgate.core.chain.chain_walk import RetentionCut, RetentionLimits
from watchgate.core.model.records import CheckpointData, CoreData, Draft
from watchgate.service.journal import journal_reader, journal_retention
from watchgate.service.journal.journal_retention import Retention, called_back, due_cut
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal, Pace
from watchgate.service.system.system_clock import FakeClock

DAY_US = 86_400_000_000
LIMITS = RetentionLimits(max_age_days=1, max_size_mb=16)
QUICK = Pace(flush_s=0.001, retry_s=0.01)
"""A record's time is its number in seconds, so that a day later 100 of them are too old."""
LATER = Instant(DAY_US + 100_000_001 + 999_999, 0.0)


class Notes:
    """A recorder as far as retention knows one."""

    def __init__(self, scribe: Scribe) -> None:
        self.scribe = scribe
        self.faults: list[str] = []

    def record(self, draft: Draft) -> None:
        self.scribe.journal.append(self.scribe.chain.seal(draft)[1])

    def about_core(self, kind: str, data: CoreData) -> None:
        assert kind == "policy.fault"
        self.faults.append(data.detail)


class Place:
    """An open journal and what keeps it within its limits."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.scribe = Scribe(journal)
        self.notes = Notes(self.scribe)
        self.retention = Retention(journal, self.notes, LIMITS, FakeClock(LATER))

    def kept(self) -> range:
        low, high = journal_reader.ends(self.journal.path)
        return range(low, high + 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
async def place(path: Path) -> AsyncIterator[Place]:
    write_history(path, 150)
    place = Place(Journal.open(path, pace=QUICK))
    yield place
    place.journal.close()


async def size_bytes(journal: Journal) -> int:
    """The size of the database once nothing is left in its log."""
    assert await called_back(journal.empty_log)
    return journal.path.stat().st_size


def sound(path: Path) -> bool:
    return verify_journal(path).problem is None


async def test_what_is_too_old_leaves_behind_a_checkpoint(place: Place) -> None:
    assert await place.retention.once()
    assert place.kept() == range(101, 152)
    (checkpoint,) = journal_reader.tail(place.journal.path, 1)
    assert (checkpoint.kind, checkpoint.data) == (
        "policy.checkpoint",
        {
            "removed_to": 100,
            "hash": next(journal_reader.read(place.journal.path, 101, 101)).prev,
            "count": 100,
            "since": 1_000_000,
            "until": 100_000_000,
            "why": "older than a day",
        },
    )
    assert sound(place.journal.path)
    assert not await place.retention.once(), "once is enough"


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ("UPDATE record SET at = 0 WHERE seq <= 140", "record 1: its hash does not match"),
        ("UPDATE record SET data = 'x' WHERE seq = 100", "record 100: its data does not match"),
        ("UPDATE record SET hash = digest WHERE seq = 100", "record 100: its hash does not match"),
        ("UPDATE record SET prev = digest WHERE seq = 101", "record 101 does not follow from"),
        ("DELETE FROM record WHERE seq = 101", "record 101 is missing"),
    ],
)
async def test_what_was_changed_never_leaves_under_a_checkpoint(
    place: Place, change: str, problem: str
) -> None:
    with closing(sqlite3.connect(place.journal.path)) as connection, connection:
        connection.execute(change)
    with pytest.raises(JournalError, match=f"not what was written: {problem}"):
        await place.retention.once()
    assert place.kept() == range(1, 151), "the evidence stays"
    assert not sound(place.journal.path)


async def test_what_was_changed_behind_it_does_not_keep_the_rest(place: Place) -> None:
    place.journal.close()
    with closing(sqlite3.connect(place.journal.path)) as connection, connection:
        connection.execute("UPDATE record SET data = 'x' WHERE seq = 102")
    again = Place(Journal.open(place.journal.path, pace=QUICK))
    assert await again.retention.once()
    assert again.kept() == range(101, 152)
    again.journal.close()


async def test_nothing_leaves_once_another_program_writes(place: Place) -> None:
    with closing(sqlite3.connect(place.journal.path)) as connection, connection:
        connection.execute("UPDATE record SET data = 'x' WHERE seq = 102")
    assert not await place.retention.once()
    assert place.kept()[:150] == range(1, 151), "the evidence stays"


async def test_the_journal_goes_on_behind_it(place: Place) -> None:
    await place.retention.once()
    place.scribe.write(3)
    assert place.scribe.commit()
    assert place.journal.close() == 0
    journal = Journal.open(place.journal.path)
    assert (journal.fault, journal.head.seq) == (None, 154)
    journal.close()
    assert sound(place.journal.path)


async def test_the_newest_record_stays_however_old_it_is(path: Path) -> None:
    write_history(path, 50)
    found = due_cut(path, LIMITS, LATER.wall_us)
    assert found is not None
    assert found.checkpoint.removed_to == 49
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM record WHERE seq < 50")
    assert due_cut(path, LIMITS, LATER.wall_us) is None


async def test_what_is_too_large_leaves_and_the_file_becomes_smaller(path: Path) -> None:
    place = Place(Journal.open(path, pace=QUICK))
    text = "x" * 100_000
    for _ in range(8):
        place.scribe.write(10, text=text)
        assert place.scribe.commit()
    before = await size_bytes(place.journal)
    place.retention = Retention(
        place.journal,
        place.notes,
        RetentionLimits(max_age_days=9_999, max_size_mb=3),
        FakeClock(LATER),
    )
    while await place.retention.once():
        pass
    (checkpoint,) = journal_reader.of_kind(path, "policy.checkpoint", 1_000, 1)
    assert checkpoint.data["why"] == "beyond 3 MB"
    assert await size_bytes(place.journal) < 4 * 2**20 < before
    assert 24 < len(place.kept()) < 30, "and no more than needed left"
    assert sound(path)
    place.journal.close()


@pytest.mark.parametrize("slices", range(1, 4))
def test_a_core_that_ends_between_two_slices_leaves_a_sound_journal(
    path: Path, slices: int
) -> None:
    write_history(path, 40)
    journal = Journal.open(path, pace=QUICK)
    place = Place(journal)
    checkpoint = checkpoint_of(path, 30)
    place.notes.record(Draft(kind="policy.checkpoint", at=1, data=checkpoint))
    assert committed(journal)
    answers: SimpleQueue[str] = SimpleQueue()
    journal.remove([10 * number for number in range(1, slices + 1)], answers.put)
    assert answers.get(timeout=30) == ""
    journal.close()
    assert journal_reader.ends(path) == (10 * slices + 1, 41)
    assert sound(path)
    found = due_cut(path, LIMITS, LATER.wall_us)
    assert found is not None
    assert found.checkpoint.removed_to == 40, "the next core goes on from what is there"


def checkpoint_of(path: Path, removed_to: int) -> CheckpointData:
    (last,) = journal_reader.read(path, removed_to, removed_to)
    return CheckpointData(
        removed_to=removed_to, hash=last.hash, count=removed_to, since=1, until=2, why="a test"
    )


async def test_nothing_is_deleted_before_the_checkpoint_is_on_the_disk(path: Path) -> None:
    write_history(path, 150)
    place = Place(open_impatient(path))
    async with locked(path):
        assert not await place.retention.once()
    assert place.scribe.commit()
    place.journal.close()
    assert place.kept()[0] == 1
    assert sound(path)


@asynccontextmanager
async def locked(path: Path) -> AsyncIterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def test_a_lost_journal_is_left_alone(path: Path) -> None:
    write_history(path, 150)
    place = Place(open_impatient(path))
    async with locked(path):
        place.scribe.write()
        assert not place.scribe.commit()
        assert place.journal.lost
        assert not await place.retention.once()
    assert place.scribe.commit()
    place.journal.close()
    assert place.kept() == range(1, 152), "no checkpoint of what did not leave"


async def test_a_deletion_that_fails_is_told_once_and_is_no_loss_of_the_journal(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    def broken(_connection: sqlite3.Connection, _upto: int) -> None:
        nonlocal tries
        tries += 1
        raise sqlite3.OperationalError("disk I/O error")

    monkeypatch.setattr("watchgate.service.journal.journal_disk.delete_rows", broken)
    with pytest.raises(JournalError, match="disk I/O error"):
        await place.retention.once()
    monkeypatch.setattr(journal_retention, "LOOK_EACH_S", 0.001)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.retention.run)
        with anyio.fail_after(20):
            while tries < 4:  # noqa: ASYNC110 - rounds are counted, nobody announces them
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert len(place.notes.faults) == 1
    assert "disk I/O error" in place.notes.faults[0]
    place.scribe.write()
    assert place.scribe.commit()
    kinds = [record.kind for record in journal_reader.tail(place.journal.path, 10)]
    assert kinds.count("policy.checkpoint") == 1
    assert sound(place.journal.path)


async def test_a_journal_that_cannot_be_read_is_told_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0

    def damaged(*_given: Any) -> RetentionCut | None:
        nonlocal looks
        looks += 1
        raise JournalError(place.journal.path, "is damaged")

    monkeypatch.setattr(journal_retention, "due_cut", damaged)
    monkeypatch.setattr(journal_retention, "LOOK_EACH_S", 0.001)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.retention.run)
        with anyio.fail_after(20):
            while looks < 3:  # noqa: ASYNC110 - rounds are counted, nobody announces them
                await anyio.sleep(0.001)
        tasks.cancel_scope.cancel()
    assert place.notes.faults == [f"the journal {place.journal.path} is damaged"]


async def test_records_are_written_while_others_leave(path: Path) -> None:
    write_history(path, 2_000)
    place = Place(Journal.open(path, pace=QUICK))
    place.retention = Retention(place.journal, place.notes, LIMITS, FakeClock(LATER.plus(1_850)))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(place.retention.once)
        while place.kept()[0] <= 1_900:
            place.scribe.write(5)
            assert await to_thread.run_sync(place.scribe.commit)
    assert place.kept()[-1] > 2_001
    assert sound(path)
    place.journal.close()
