"""An index lags, vanishes, is damaged or is of another journal: each time it is made anew."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.scribe import Scribe, write_history
from tests.service.search.conftest import RECORDS, indexed
from watchgate.core.filters.filter_parser import parse
from watchgate.core.model.records import Draft, PurgedData
from watchgate.service.history import record_pages
from watchgate.service.journal.schema import open_to_write
from watchgate.service.journal.writer import Journal
from watchgate.service.search import index_file
from watchgate.service.search.index_file import index_path, remove_index
from watchgate.service.search.index_query import index_of
from watchgate.service.search.indexer import Upkeep


def upto(journal: Path) -> int | None:
    """How far the index of a journal goes; None where there is none to be used."""
    with index_of(journal) as index:
        return index.upto if index is not None else None


def found(journal: Path, word: str) -> list[int]:
    return [record.seq for record in record_pages.search(journal, parse(word), 2_000)["records"]]


def add(journal: Path, count: int) -> None:
    """What another core would have written after that."""
    write_history(journal, count)


def test_an_index_holds_all_that_the_journal_has(journal: Path) -> None:
    assert upto(journal) == len(RECORDS)


def test_it_is_readable_by_its_owner_alone(journal: Path) -> None:
    assert stat.S_IMODE(index_path(journal).stat().st_mode) == 0o600


def test_what_came_since_is_found_before_it_is_indexed_and_after(journal: Path) -> None:
    add(journal, 7)
    newest = list(range(len(RECORDS) + 7, len(RECORDS), -1))
    assert found(journal, "hello") == newest
    assert indexed(journal) == ""
    assert (upto(journal), found(journal, "hello")) == (len(RECORDS) + 7, newest)


def _vanish(path: Path) -> None:
    path.unlink()


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _no_database(path: Path) -> None:
    path.write_bytes(b"not a database" * 1_000)


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _overwritten(path: Path) -> None:
    held = bytearray(path.read_bytes())
    for start in range(4_096, len(held), 4_096):
        held[start : start + 64] = bytes(64)
    path.write_bytes(held)


def _another_program(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("CREATE TABLE notes (text)")
    path.chmod(0o600)


def _another_format(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("PRAGMA user_version = 99")


def _open_to_others(path: Path) -> None:
    path.chmod(0o644)


def _of_another_journal(path: Path) -> None:
    with closing(sqlite3.connect(path)) as other, other:
        other.execute("UPDATE reached SET hash = 'of another journal'")


@pytest.mark.parametrize(
    "harm",
    [_vanish, _empty, _no_database, _cut, _overwritten, _another_program, _another_format,
     _open_to_others, _of_another_journal],
)  # fmt: skip
def test_whatever_happens_to_it_all_is_found_and_it_is_made_anew(
    journal: Path, harm: object
) -> None:
    assert callable(harm)
    before = found(journal, "operator")
    assert before
    harm(index_path(journal))
    assert found(journal, "operator") == before
    for _ in range(2):  # the first round may only find out
        indexed(journal)
    assert (upto(journal), found(journal, "operator")) == (len(RECORDS), before)
    assert stat.S_IMODE(index_path(journal).stat().st_mode) == 0o600


def test_an_index_of_another_journal_is_not_believed(tmp_path: Path, journal: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_history(other / "journal.db", 300)
    assert indexed(other / "journal.db") == ""
    shutil.copy(index_path(other / "journal.db"), index_path(journal))
    assert upto(journal) is None
    assert indexed(journal) == ""
    assert upto(journal) == len(RECORDS)


def test_an_index_that_goes_further_than_its_journal_is_not_believed(
    tmp_path: Path, journal: Path
) -> None:
    old = tmp_path / "old.db"
    shutil.copy(journal, old)
    shutil.copy(journal.with_name("journal.head"), old.with_name("old.head"))
    add(journal, 5)
    assert indexed(journal) == ""
    shutil.copy(old, journal)
    assert upto(journal) is None


def test_a_file_that_was_thrown_away_below_it_is_made_again(journal: Path) -> None:
    upkeep = Upkeep(journal)
    assert upkeep.round(lambda: False) == ""
    remove_index(journal)
    assert upkeep.round(lambda: False) == ""
    upkeep.close()
    assert upto(journal) == len(RECORDS)


def test_words_of_records_that_left_the_journal_leave_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for part in (index_file, index_file, "watchgate.service.search.index_query"):
        target = part if isinstance(part, str) else part.__name__
        monkeypatch.setattr(f"{target}.SEGMENT_ROWS", 10)
    path = tmp_path / "journal.db"
    journal = Journal.open(path)
    scribe = Scribe(journal)
    scribe.write(30, "old")
    scribe.write(15, "new")
    assert scribe.commit()
    journal.close()
    assert indexed(path) == ""
    connection = open_to_write(path)
    connection.execute("DELETE FROM record WHERE seq <= 25")
    connection.close()
    assert indexed(path) == ""
    with index_of(path) as index:
        assert index is not None
        assert [*index.numbers('"old"', 1, 99)] == [30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20]
    assert found(path, "old") == [30, 29, 28, 27, 26]


def test_purged_words_are_gone_once_it_is_made_anew(journal: Path) -> None:
    word = b"operator"
    connection = open_to_write(journal)
    connection.execute("UPDATE record SET data = NULL")
    connection.close()
    remove_index(journal)
    assert indexed(journal) == ""
    assert word not in index_path(journal).read_bytes()
    assert found(journal, "operator") == []


def test_words_that_were_purged_leave_an_index_that_nobody_threw_away(journal: Path) -> None:
    """A core that ends between a purge and what follows it must not keep them for good."""
    opened = Journal.open(journal)
    told = PurgedData(agent="claude", session="one", count=1, upto=len(RECORDS), by="kim")
    scribe = Scribe(opened)
    _, row = scribe.chain.seal(Draft(kind="policy.purged", at=1, data=told))
    opened.append(row)
    assert scribe.commit()
    opened.close()
    with closing(open_to_write(journal)) as connection:
        connection.execute("UPDATE record SET data = NULL WHERE seq <= ?", (len(RECORDS),))
    old = index_path(journal).stat().st_ino
    keep = index_path(journal).open("rb")  # or the new file may get the same number
    assert b"operator" in keep.read()
    assert indexed(journal) == ""
    made = index_path(journal).stat().st_ino
    assert made != old
    assert b"operator" not in index_path(journal).read_bytes()
    assert indexed(journal) == ""
    assert index_path(journal).stat().st_ino == made
    keep.close()


@pytest.mark.parametrize(
    "data", ['{"rows":5}', '{"took_ms":"x","rows":[{}]}', '{"tool":[1]}', "[]"]
)
def test_data_of_another_shape_are_indexed_without_their_words(journal: Path, data: str) -> None:
    remove_index(journal)
    with closing(open_to_write(journal)) as connection:
        connection.execute("UPDATE record SET data = ?, kind = 'hook.trace' WHERE seq = 3", (data,))
    assert indexed(journal) == ""
    assert upto(journal) == len(RECORDS)


def test_a_journal_that_is_not_there_is_told(tmp_path: Path) -> None:
    assert "does not exist yet" in indexed(tmp_path / "journal.db")
    assert not index_path(tmp_path / "journal.db").exists()


def test_a_place_where_nothing_can_be_written_is_told_and_nothing_else_happens(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path) -> sqlite3.Connection:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("watchgate.service.search.indexer.open_to_fill", full)
    assert "make room there" in indexed(journal)


def test_a_batch_is_indexed_whole_or_not_at_all(journal: Path) -> None:
    add(journal, 3)
    index = index_file.open_to_fill(journal)
    with closing(open_to_write(journal)) as connection:
        batch = index_file.records_after(connection, len(RECORDS))
    index.execute(
        "CREATE TRIGGER stop BEFORE UPDATE ON reached BEGIN SELECT raise(ABORT, 'x'); END"
    )
    with pytest.raises(sqlite3.Error):
        index_file.store_batch(index, batch)
    assert index_file.newest_indexed(index).seq == len(RECORDS)
    index.execute("DROP TRIGGER stop")
    index_file.store_batch(index, batch)
    assert index_file.newest_indexed(index).seq == len(RECORDS) + 3
    index.close()


def test_an_index_that_somebody_else_is_writing_is_left_alone(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_file, "BUSY_TIMEOUT_S", 0.0)
    add(journal, 3)
    before = index_path(journal).stat().st_ino
    other = sqlite3.connect(index_path(journal), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    assert "is locked by another program" in indexed(journal)
    other.execute("ROLLBACK")
    other.close()
    assert indexed(journal) == ""
    assert index_path(journal).stat().st_ino == before
