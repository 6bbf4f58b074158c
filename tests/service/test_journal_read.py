from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.service.scribe import Scribe, committed, write_history
from watchgate.core.chain import Problem, Row
from watchgate.service import journal_read
from watchgate.service.journal import Journal
from watchgate.service.journal_schema import JournalError

COUNT = 8
TEXTS = ("core", "kind", "agent", "session", "sub", "call", "request", "data", "digest", "hash")


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished journal that no test changes."""
    path = tmp_path_factory.mktemp("history") / "journal.db"
    write_history(path, COUNT)
    return path


@pytest.fixture
def copy(history: Path, tmp_path: Path) -> Path:
    return copy_to(history, tmp_path / "copy")


def copy_to(history: Path, folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(history.parent, folder)
    return folder / history.name


@contextmanager
def forger(path: Path) -> Iterator[sqlite3.Connection]:
    """Somebody with the database in hand."""
    with closing(sqlite3.connect(path)) as connection, connection:
        yield connection


def problem(path: Path) -> Problem:
    found = journal_read.verify(path).problem
    assert found is not None
    return found


def test_a_range_a_tail_and_a_time_are_read_in_order(history: Path) -> None:
    assert [record.seq for record in journal_read.read(history, 3, 5)] == [3, 4, 5]
    assert [record.seq for record in journal_read.tail(history, 2)] == [7, 8]
    assert [record.seq for record in journal_read.since(history, 6_000_000)] == [6, 7, 8]
    assert [record.seq for record in journal_read.since(history, 0)] == list(range(1, COUNT + 1))
    assert list(journal_read.since(history, 9_000_000)) == []


def test_a_clock_that_was_set_back_hides_nothing_of_the_last_hour(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("UPDATE record SET at = at + 1800000000 WHERE seq BETWEEN 3 AND 5")
    late = [record.seq for record in journal_read.since(copy, 1_800_000_000)]
    assert late == [3, 4, 5]
    assert [record.seq for record in journal_read.since(copy, 7_000_000)] == [3, 4, 5, 7, 8]


def test_a_journal_is_read_while_a_core_writes_it(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal.open(path)
    scribe = Scribe(journal)
    scribe.write(2)
    assert committed(journal)
    reader = journal_read.read(path, 1, 10)
    assert next(reader).seq == 1
    scribe.write(2)
    assert committed(journal)
    assert [record.seq for record in reader] == [2], "a reader sees the moment it began"
    assert journal_read.verify(path).count == 4
    journal.close()


def test_an_empty_journal_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    Journal.open(path).close()
    verdict = journal_read.verify(path)
    assert (verdict.count, verdict.problem) == (0, None)
    assert list(journal_read.since(path, 0)) == []


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seq=st.integers(1, COUNT), column=st.sampled_from([*TEXTS, "at", "v", "prev"]))
def test_any_changed_field_is_found(history: Path, tmp_path: Path, seq: int, column: str) -> None:
    path = copy_to(history, tmp_path / "forged")
    value = 99 if column in ("at", "v") else "f" * 64
    with forger(path) as connection:
        connection.execute(f"UPDATE record SET {column} = ? WHERE seq = ?", (value, seq))
    assert problem(path).seq in (seq, seq + 1)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(first=st.integers(1, COUNT), second=st.integers(1, COUNT))
def test_swapped_records_are_found(history: Path, tmp_path: Path, first: int, second: int) -> None:
    path = copy_to(history, tmp_path / "forged")
    with forger(path) as connection:
        for old, new in ((first, -1), (second, first), (-1, second)):
            connection.execute("UPDATE record SET seq = ? WHERE seq = ?", (new, old))
    if first == second:
        assert journal_read.verify(path).problem is None
    else:
        assert problem(path).seq == min(first, second)


@pytest.mark.parametrize("seq", range(1, COUNT))
def test_a_deleted_record_is_named(copy: Path, seq: int) -> None:
    with forger(copy) as connection:
        connection.execute("DELETE FROM record WHERE seq = ?", (seq,))
    assert problem(copy).message == f"record {seq} is missing"


@pytest.mark.parametrize("kept", range(COUNT))
def test_a_cut_tail_is_found_by_the_head_file(copy: Path, kept: int) -> None:
    with forger(copy) as connection:
        connection.execute("DELETE FROM record WHERE seq > ?", (kept,))
    assert problem(copy) == Problem(
        kept + 1,
        f"record {COUNT} is missing: journal.head names it, the journal ends at record {kept}",
    )


def test_a_history_written_anew_is_found_by_the_head_file(copy: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    journal = Journal.open(other / "journal.db")
    Scribe(journal, core="core-b").write(COUNT)
    journal.close()
    shutil.copy(other / "journal.db", copy)
    assert problem(copy).message == f"record {COUNT} has another hash than journal.head says"


def test_an_appended_record_with_a_made_up_hash_is_found(copy: Path) -> None:
    fields = ",".join(name for name in Row.__struct_fields__ if name != "seq")
    with forger(copy) as connection:
        connection.execute(
            f"INSERT INTO record SELECT {COUNT + 1}, {fields} FROM record WHERE seq = {COUNT}"
        )
    assert problem(copy).seq == COUNT + 1


def test_a_purged_payload_is_counted_and_no_problem(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("UPDATE record SET data = NULL WHERE seq = 4")
    verdict = journal_read.verify(copy)
    assert (verdict.count, verdict.purged, verdict.problem) == (COUNT, 1, None)


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"8\n", b"x" * 64, b"\xff\n", b"8 short\n"),
        *(b"9" * digits + b" " + b"a" * 64 for digits in (19, 30, 5_000)),
    ],
)
def test_a_head_file_that_is_not_one_is_a_problem(copy: Path, content: bytes) -> None:
    copy.with_name("journal.head").write_bytes(content)
    assert "journal.head" in problem(copy).message


def test_a_journal_without_a_head_file_is_judged_by_its_chain(copy: Path) -> None:
    copy.with_name("journal.head").unlink()
    assert journal_read.verify(copy).problem is None


def test_a_head_file_that_nobody_can_read_to_its_end_is_a_problem(copy: Path) -> None:
    head = copy.with_name("journal.head")
    head.unlink()
    os.mkfifo(head)
    assert problem(copy).message == "journal.head is not a plain file"


def test_without_its_head_file_a_journal_of_decisions_may_have_been_cut(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    journal = Journal.open(path)
    Scribe(journal).write(2, kind="approval.decided")
    journal.close()
    path.with_name("journal.head").unlink()
    assert problem(path) == Problem(
        2, "journal.head is missing: whether records after 2 were cut off cannot be told"
    )


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
    for use in (journal_read.verify, Journal.open):
        with pytest.raises(JournalError, match="rebuilt by another program"):
            use(copy)


def test_text_that_is_no_utf_8_is_named_by_its_record(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("UPDATE record SET session = CAST(x'ff' AS TEXT) WHERE seq = 3")
    assert problem(copy).seq == 3


def test_data_that_are_not_those_that_were_written_are_not_shown(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("""UPDATE record SET data = '{"cwd": 5}' WHERE seq = 3""")
    assert [r.data for r in journal_read.read(copy, 3, 3)] == [{}]
    assert journal_read.read(copy, 4, 4).__next__().data


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
        problem(path)
    with suppress(JournalError):
        list(journal_read.since(path, 0))


def test_a_journal_that_is_not_there_says_when_it_will_be(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="made by the first start of a core"):
        journal_read.verify(tmp_path / "journal.db")
    with pytest.raises(JournalError, match="does not exist yet"):
        journal_read.tail(tmp_path / "journal.db", 1)


def test_damaged_pages_are_an_error_with_the_mend(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write_history(path, 500)
    content = bytearray(path.read_bytes())
    content[8_192:40_960] = b"\xaa" * 32_768
    path.write_bytes(content)
    with pytest.raises(JournalError, match="is damaged"):
        journal_read.verify(path)


def test_the_ends_of_a_journal(history: Path, tmp_path: Path) -> None:
    assert journal_read.ends(history) == (1, COUNT)
    Journal.open(tmp_path / "new.db").close()
    assert journal_read.ends(tmp_path / "new.db") == (1, 0)


def test_records_of_some_kinds_and_of_some_calls(history: Path) -> None:
    assert len(list(journal_read.among(history, ("notice",), 1, COUNT))) == COUNT
    assert list(journal_read.among(history, ("tool.pre",), 1, COUNT)) == []
    assert [r.seq for r in journal_read.about(history, ("c1",), ("notice",), 2, 4)] == [2, 3, 4]
    assert list(journal_read.about(history, ("c1",), ("tool.pre",), 1, COUNT)) == []
