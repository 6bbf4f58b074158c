from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from tests.service.forging import copy_to, forger
from tests.service.scribe import Scribe, committed, write_history
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal

COUNT = 8


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished journal that no test changes."""
    path = tmp_path_factory.mktemp("history") / "journal.db"
    write_history(path, COUNT)
    return path


@pytest.fixture
def copy(history: Path, tmp_path: Path) -> Path:
    return copy_to(history, tmp_path / "copy")


def test_a_range_a_tail_and_a_time_are_read_in_order(history: Path) -> None:
    assert [record.seq for record in journal_reader.read(history, 3, 5)] == [3, 4, 5]
    assert [record.seq for record in journal_reader.tail(history, 2)] == [7, 8]
    assert [record.seq for record in journal_reader.since(history, 6_000_000)] == [6, 7, 8]
    assert [record.seq for record in journal_reader.since(history, 0)] == list(range(1, COUNT + 1))
    assert list(journal_reader.since(history, 9_000_000)) == []


def test_a_clock_that_was_set_back_hides_nothing_of_the_last_hour(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("UPDATE record SET at = at + 1800000000 WHERE seq BETWEEN 3 AND 5")
    late = [record.seq for record in journal_reader.since(copy, 1_800_000_000)]
    assert late == [3, 4, 5]
    assert [record.seq for record in journal_reader.since(copy, 7_000_000)] == [3, 4, 5, 7, 8]


def test_a_journal_is_read_while_a_core_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal.open(path)
    scribe = Scribe(journal)
    scribe.write(2)
    assert committed(journal)
    reader = journal_reader.read(path, 1, 10)
    assert next(reader).seq == 1
    scribe.write(2)
    assert committed(journal)
    assert [record.seq for record in reader] == [2], "a reader sees the moment it began"
    assert verify_journal(path).count == 4
    journal.close()


def test_an_empty_journal_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal.open(path).close()
    verdict = verify_journal(path)
    assert (verdict.count, verdict.problem) == (0, None)
    assert list(journal_reader.since(path, 0)) == []


@pytest.mark.parametrize(
    "change",
    [
        "CREATE TRIGGER gone AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "CREATE TABLE other (x)",
        "ALTER TABLE record RENAME TO kept; CREATE VIEW record AS SELECT * FROM kept",
        """CREATE TABLE kept AS SELECT * FROM record; DROP TABLE record;
        ALTER TABLE kept RENAME TO record; UPDATE record SET seq = 'x'""",
        "DROP TABLE record",
    ],
)
def test_a_journal_that_was_rebuilt_is_neither_read_nor_written(copy: Path, change: str) -> None:
    with closing(sqlite3.connect(copy)) as connection:
        connection.executescript(change)
    for use in (verify_journal, Journal.open):
        with pytest.raises(JournalError, match="rebuilt by another program"):
            use(copy)


def test_data_that_are_not_those_that_were_written_are_not_shown(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("""UPDATE record SET data = '{"cwd": 5}' WHERE seq = 3""")
    assert [r.data for r in journal_reader.read(copy, 3, 3)] == [{}]
    assert journal_reader.read(copy, 4, 4).__next__().data


def test_a_number_after_which_no_other_fits_is_an_error(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute(f"UPDATE record SET seq = {2**63 - 1} WHERE seq = {COUNT}")
    with pytest.raises(JournalError, match="leaves none for the next"):
        Journal.open(copy)


@pytest.mark.parametrize("size_bytes", range(4_500, 12_000, 500))
def test_a_file_that_was_cut_is_an_error_or_a_problem(tmp_path: Path, size_bytes: int) -> None:
    path = tmp_path / "journal.db"
    write_history(path, 40)
    os.truncate(path, size_bytes)
    with suppress(JournalError):
        assert verify_journal(path).problem is not None
    with suppress(JournalError):
        list(journal_reader.since(path, 0))


def test_a_journal_that_is_not_there_says_when_it_will_be(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="made by the first start of a core"):
        verify_journal(tmp_path / "journal.db")
    with pytest.raises(JournalError, match="does not exist yet"):
        journal_reader.tail(tmp_path / "journal.db", 1)


def test_damaged_pages_are_an_error_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_history(path, 500)
    content = bytearray(path.read_bytes())
    content[8_192:40_960] = b"\xaa" * 32_768
    path.write_bytes(content)
    with pytest.raises(JournalError, match="is damaged"):
        verify_journal(path)


def test_the_ends_of_a_journal(history: Path, tmp_path: Path) -> None:
    assert journal_reader.ends(history) == (1, COUNT)
    Journal.open(tmp_path / "new.db").close()
    assert journal_reader.ends(tmp_path / "new.db") == (1, 0)


def test_records_of_some_kinds_and_of_some_calls(history: Path) -> None:
    assert len(list(journal_reader.among(history, ("notice",), 1, COUNT))) == COUNT
    assert list(journal_reader.among(history, ("tool.pre",), 1, COUNT)) == []
    assert [r.seq for r in journal_reader.about(history, ("c1",), ("notice",), 2, 4)] == [2, 3, 4]
    assert list(journal_reader.about(history, ("c1",), ("tool.pre",), 1, COUNT)) == []
