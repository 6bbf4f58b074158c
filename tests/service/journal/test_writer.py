from __future__ import annotations

import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.service.scribe import Scribe, committed, open_impatient, write_history
from watchgate.core.chain.hash_chain import START, Head, JournalRow
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import JournalDisk, head_path, read_head
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import OVERFULL, Journal, Pace

NEVER = Pace(flush_s=3_600)


@pytest.fixture
def path(state_dir: Path) -> Path:
    state_dir.mkdir(parents=True, mode=0o700)
    return state_dir / "journal.db"


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not true():
        assert time.monotonic() < deadline, "it never became true"
        time.sleep(0.005)


def sequence(path: Path) -> list[int]:
    return [record.seq for record in journal_reader.tail(path, 1_000_000)]


def test_a_new_journal_is_empty_and_private(path: Path) -> None:
    journal = Journal.open(path)
    assert (journal.head, journal.lost, journal.fault) == (START, "", None)
    Scribe(journal).write()
    assert committed(journal)
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600, file
    journal.close()


def test_what_was_committed_is_read_back_as_it_was(path: Path) -> None:
    journal = Journal.open(path)
    row = Scribe(journal).write(text="naïve \x00 \U0001f600 'quoted'")
    assert committed(journal)
    assert journal_reader.tail(path, 1) == [row.record()]
    journal.close()


@pytest.mark.parametrize("count", [1, 15, 16, 17, 255, 256, 257, 1_000])
def test_any_number_of_rows_goes_in_at_once(path: Path, count: int) -> None:
    journal = Journal.open(path, pace=NEVER)
    Scribe(journal).write(count)
    assert committed(journal)
    assert journal.close() == 0
    verdict = verify_journal(path)
    assert (verdict.count, verdict.problem) == (count, None)


def test_rows_reach_the_disk_without_a_commit(path: Path) -> None:
    journal = Journal.open(path)
    Scribe(journal).write(3)
    until(lambda: sequence(path) == [1, 2, 3])
    journal.close()


def test_a_full_batch_does_not_wait(path: Path) -> None:
    journal = Journal.open(path, pace=NEVER)
    Scribe(journal).write(256)
    until(lambda: len(sequence(path)) == 256)
    journal.close()


def test_closing_writes_what_is_left(path: Path) -> None:
    journal = Journal.open(path, pace=NEVER)
    Scribe(journal).write(5)
    assert journal.close() == 0
    assert sequence(path) == [1, 2, 3, 4, 5]


def test_commits_are_answered_from_the_writers_thread_in_their_order(path: Path) -> None:
    journal = Journal.open(path)
    scribe = Scribe(journal)
    heard: list[tuple[int, str, bool]] = []
    for number in range(20):
        scribe.write()
        journal.commit(
            lambda ok, number=number: heard.append((number, threading.current_thread().name, ok))  # type: ignore[misc]
        )
    journal.close()
    assert heard == [(number, "journal", True) for number in range(20)]


def test_a_commit_with_nothing_new_is_kept_at_once(path: Path) -> None:
    journal = Journal.open(path)
    assert committed(journal)
    journal.close()


def test_a_callback_into_a_closed_loop_does_not_end_the_writer(path: Path) -> None:
    def closed(ok: bool) -> None:
        raise RuntimeError("Event loop is closed")

    journal = Journal.open(path)
    Scribe(journal).write()
    journal.commit(closed)
    assert committed(journal)
    journal.close()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_writer_that_fails_by_itself_counts_as_lost(path: Path) -> None:
    def broken(ok: bool) -> None:
        raise KeyError("a fault of the caller")

    journal = Journal.open(path)
    Scribe(journal).write()
    journal.commit(broken)
    until(lambda: bool(journal.lost))
    assert "writer has failed: restart the core" in journal.lost
    journal.close()


def test_the_next_core_goes_on_from_the_head(path: Path) -> None:
    write_history(path, 3)
    journal = Journal.open(path)
    assert journal.head.seq == 3
    Scribe(journal, core="core-b").write(2)
    journal.close()
    verdict = verify_journal(path)
    assert (verdict.count, verdict.problem) == (5, None)
    assert [record.core for record in journal_reader.tail(path, 3)] == [
        "core-a",
        "core-b",
        "core-b",
    ]


def test_the_head_file_follows_every_commit(path: Path) -> None:
    journal = Journal.open(path)
    scribe = Scribe(journal)
    for _ in range(2):
        row = scribe.write()
        assert committed(journal)
        assert read_head(head_path(path)) == Head(row.seq, row.hash)
    journal.close()


@pytest.mark.parametrize("kind", ["approval.decided", "notice"])
def test_the_head_file_follows_every_batch_although_nobody_waits_for_it(
    path: Path, kind: str
) -> None:
    journal = Journal.open(path)
    row = Scribe(journal).write(kind=kind)
    until(lambda: read_head(head_path(path)) == Head(row.seq, row.hash))
    journal.close()


def test_a_journal_has_its_head_file_before_its_first_record(path: Path) -> None:
    Journal.open(path).close()
    assert read_head(head_path(path)) == START


def test_a_head_file_that_told_of_a_fault_stays_until_there_is_something_to_record(
    path: Path,
) -> None:
    write_history(path, 5)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM record WHERE seq > 3")
    for _ in range(2):
        journal = Journal.open(path)
        assert journal.fault
        assert committed(journal)
        journal.close()
    journal = Journal.open(path)
    Scribe(journal).write(kind="policy.fault")
    journal.close()
    journal = Journal.open(path)
    assert journal.fault is None
    journal.close()


def test_a_journal_whose_tail_was_cut_says_so_when_it_is_opened(path: Path) -> None:
    write_history(path, 5)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM record WHERE seq > 3")
    connection.close()
    journal = Journal.open(path)
    assert journal.fault is not None
    assert "journal.head names it, the journal ends at record 3" in journal.fault
    journal.close()
    assert verify_journal(path).problem is not None


CHILD = """
import sys, threading
from pathlib import Path
from tests.service.scribe import Scribe
from watchgate.service.journal.writer import Journal
scribe = Scribe(Journal.open(Path(sys.argv[1])))
while True:
    row = scribe.write(7)
    assert scribe.commit()
    print(row.seq, flush=True)
"""


def test_what_was_committed_survives_a_killed_core(path: Path) -> None:
    root = Path(__file__).parents[3]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, cwd=root, text=True
    )
    assert child.stdout is not None
    printed = [int(child.stdout.readline()) for _ in range(20)]
    child.send_signal(signal.SIGKILL)
    rest, _ = child.communicate(timeout=30)
    last = int((rest.split() or printed)[-1])

    verdict = verify_journal(path)
    assert (verdict.problem, verdict.count >= last) == (None, True)
    journal = Journal.open(path)
    assert journal.fault is None
    assert journal.head == verdict.head
    Scribe(journal).write(2)
    journal.close()
    assert verify_journal(path).problem is None


def test_a_locked_journal_is_lost_and_comes_back_complete(path: Path) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    scribe.write(3)
    assert not scribe.commit()
    assert "locked by another program" in journal.lost
    scribe.write(2)
    other.execute("ROLLBACK")
    other.close()
    assert scribe.commit()
    assert not journal.lost
    journal.close()
    assert verify_journal(path).count == 5


def test_few_rows_that_are_large_leave_no_room_for_observations(path: Path) -> None:
    journal = Journal.open(path, pace=Pace(flush_s=3_600, max_bytes=1_000))
    scribe = Scribe(journal)
    assert journal.room > 0
    scribe.write(text="x" * 1_500)
    assert journal.room == 0
    scribe.write(text="x" * 1_500)
    assert scribe.commit(), "what was taken in is written all the same"
    assert journal.room > 0
    scribe.write(text="x" * 2_500)
    scribe.write()
    assert (journal.dropped, journal.lost) == (1, OVERFULL), "twice as much is too much for gates"
    assert not scribe.commit()
    assert journal.close() == 1
    assert sequence(path) == [1, 2, 3]


def test_from_the_first_row_beyond_the_cap_all_are_dropped_and_the_chain_has_no_hole(
    path: Path,
) -> None:
    journal = open_impatient(path, rows_kept=4)
    scribe = Scribe(journal)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        scribe.write(3)
        assert not scribe.commit()
        assert journal.room == 1, "what is tried again and again waits all the same"
        scribe.write(3)
        assert (journal.dropped, journal.room, journal.spent) == (2, 0, False)
        assert "locked" in journal.lost
        other.execute("ROLLBACK")
    assert not scribe.commit(), "two of the rows before this commit are not on the disk"
    assert (journal.room, journal.spent, journal.lost) == (4, True, OVERFULL)
    scribe.write()
    assert not scribe.commit(), "it has room, and what is in it ends where the hole would begin"
    assert journal.close() == 3
    assert sequence(path) == [1, 2, 3, 4]
    again = Journal.open(path)
    Scribe(again).write()
    again.close()
    assert (verify_journal(path).count, verify_journal(path).problem) == (5, None)


def test_rows_that_are_just_being_tried_take_room(path: Path) -> None:
    trying, tried = threading.Event(), threading.Event()

    class Stuck(JournalDisk):
        def insert(self, rows: Sequence[JournalRow], purged: Sequence[int] = ()) -> None:
            trying.set()
            assert tried.wait(30)
            super().insert(rows, purged)

    connection = open_to_write(path)
    journal = Journal(path, Stuck(path, connection), Pace(flush_s=0.001, max_rows=10))
    scribe = Scribe(journal)
    scribe.write(4)
    assert trying.wait(30)
    assert journal.room == 6, "a disk that answers nothing must not take rows without end"
    tried.set()
    assert scribe.commit()
    assert journal.room == 10
    assert journal.close() == 0


def test_a_journal_that_cannot_be_closed_clean_says_how_much_is_missing(path: Path) -> None:
    journal = open_impatient(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    Scribe(journal).write(3)
    assert not committed(journal)
    assert journal.close() == 3
    other.close()


def test_a_journal_that_was_removed_is_lost_although_its_file_still_takes_writes(
    path: Path,
) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    scribe.write()
    assert scribe.commit()
    path.rename(path.with_name("elsewhere.db"))
    scribe.write()
    assert not scribe.commit()
    assert "moved or removed, restart the core" in journal.lost
    path.with_name("elsewhere.db").rename(path)
    until(lambda: not journal.lost)
    journal.close()
    assert sequence(path) == [1, 2]


def test_a_journal_whose_log_was_removed_is_lost_although_it_still_takes_writes(
    path: Path,
) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    scribe.write()
    assert scribe.commit()
    path.with_name("journal.db-wal").unlink()
    scribe.write()
    assert not scribe.commit()
    assert "moved or removed, restart the core" in journal.lost
    journal.close()


def test_a_head_file_that_cannot_be_written_fails_the_commit(path: Path) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    head_path(path).unlink()
    blocking = path.with_name("journal.head.new")
    blocking.mkdir()
    scribe.write()
    assert not scribe.commit()
    assert journal.lost
    blocking.rmdir()
    until(lambda: not journal.lost)
    assert scribe.commit()
    journal.close()
    assert verify_journal(path).problem is None


def test_another_writer_of_the_same_number_is_noticed(path: Path) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    row = scribe.write()
    assert scribe.commit()
    forged = msgspec.structs.replace(row, seq=2)
    other = sqlite3.connect(path)
    with other:
        places = ",".join("?" * len(row.__struct_fields__))
        values = [
            value.decode() if isinstance(value, bytes) else value
            for value in msgspec.structs.astuple(forged)
        ]
        other.execute(f"INSERT INTO record VALUES ({places})", values)
    other.close()
    scribe.write()
    assert not scribe.commit()
    assert journal.lost
    journal.close()


def test_several_rows_go_in_together_or_not_at_all(path: Path) -> None:
    aside = Journal.open(path.with_name("aside.db"))
    scribe = Scribe(aside)
    rows = [scribe.write() for _ in range(6)]
    aside.close()
    journal = Journal.open(path, pace=Pace(flush_s=3_600, max_rows=4))
    journal.extend(rows[:3])
    journal.extend(rows[3:])
    assert journal.dropped == 3
    assert not committed(journal), "what was dropped is on no disk"
    assert sequence(path) == [1, 2, 3]
    assert journal.close() == 3


def data_of(path: Path, seq: int) -> dict[str, Any]:
    (record,) = journal_reader.read(path, seq, seq)
    return record.data


def test_a_purge_and_the_record_of_it_are_written_together(path: Path) -> None:
    journal = open_impatient(path)
    scribe = Scribe(journal)
    scribe.write(3)
    assert scribe.commit()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        scribe.purge([1, 3])
        assert not scribe.commit()
        assert (data_of(path, 1) != {}, sequence(path)) == (True, [1, 2, 3])
        other.execute("ROLLBACK")
    assert scribe.commit()
    assert [seq for seq in range(1, 5) if data_of(path, seq)] == [2, 4]
    journal.close()


def test_a_purge_that_has_no_room_drops_nothing(path: Path) -> None:
    journal = Journal.open(path, pace=Pace(flush_s=3_600, max_rows=3))
    scribe = Scribe(journal)
    scribe.write(3)
    scribe.purge([1])
    assert journal.dropped == 1
    journal.close()
    assert [seq for seq in range(1, 4) if data_of(path, seq)] == [1, 2, 3]
