"""The file that says how far the journal goes, so that a cut tail shows."""

from __future__ import annotations

import os
import sqlite3
import stat
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.forging import copy_to, forger
from tests.service.scribe import write_history
from watchgate.core.chain.hash_chain import START, Head, Problem
from watchgate.service.journal.journal_disk import (
    HeadError,
    HeadFile,
    head_path,
    head_problem,
    read_head,
)

COUNT = 8
FIRST, SECOND = Head(7, "a" * 64), Head(8, "b" * 64)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished journal that no test changes."""
    path = tmp_path_factory.mktemp("history") / "journal.db"
    write_history(path, COUNT)
    return path


@pytest.fixture
def copy(history: Path, tmp_path: Path) -> Path:
    return copy_to(history, tmp_path / "copy")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.head"


def problem(journal: Path) -> Problem | None:
    with closing(sqlite3.connect(journal)) as connection:
        return head_problem(head_path(journal), connection)


@pytest.mark.parametrize("durable", [True, False])
def test_what_was_written_last_is_read_back(path: Path, durable: bool) -> None:
    file = HeadFile(path)
    for head in (START, FIRST, SECOND):
        file.write(head, durable=durable)
        assert read_head(path) == head
    file.close()
    assert read_head(path) == SECOND
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert not path.with_name("journal.head.new").exists()


def test_a_second_writing_changes_the_file_in_place(path: Path) -> None:
    file = HeadFile(path)
    file.write(FIRST, durable=True)
    before = path.stat()
    file.write(SECOND, durable=False)
    after = path.stat()
    assert (after.st_ino, after.st_size) == (before.st_ino, before.st_size)
    file.close()


def test_a_file_that_was_taken_away_or_exchanged_is_made_again(path: Path) -> None:
    file = HeadFile(path)
    file.write(FIRST, durable=True)
    path.unlink()
    file.write(SECOND, durable=False)
    assert read_head(path) == SECOND
    other = path.with_name("other")
    other.write_text("elsewhere")
    path.unlink()
    path.symlink_to(other)
    file.write(FIRST, durable=False)
    assert (read_head(path), other.read_text()) == (FIRST, "elsewhere")
    file.close()


def test_a_file_that_cannot_be_made_leaves_the_old_one(path: Path) -> None:
    HeadFile(path).write(FIRST, durable=True)
    path.with_name("journal.head.new").mkdir()
    with pytest.raises(OSError, match=r"journal\.head\.new"):
        HeadFile(path).write(SECOND, durable=True)
    assert read_head(path) == FIRST


def test_a_reader_beside_the_writer_sees_one_writing_or_another(path: Path) -> None:
    file = HeadFile(path)
    file.write(FIRST, durable=False)
    ending = threading.Event()

    def write() -> None:
        while not ending.is_set():
            file.write(SECOND, durable=False)
            file.write(FIRST, durable=False)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        assert {read_head(path) for _ in range(300)} <= {FIRST, SECOND}
    finally:
        ending.set()
        writer.join()
        file.close()


def test_no_file_is_no_head(path: Path) -> None:
    assert read_head(path) is None


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"8\n", b"x" * 64, b"\xff\n", b"8 short\n", b"8 " + b"a" * 64 + b"\n"),
        *(b"9" * digits + b" " + b"a" * 64 + b"\n" for digits in (19, 20, 21, 5_000)),
        b"0" * 19 + b"8 " + b"a" * 64 + b"\n\n",
    ],
)
def test_a_file_that_is_no_head_is_a_problem(copy: Path, content: bytes) -> None:
    head_path(copy).write_bytes(content)
    assert problem(copy) == Problem(COUNT + 1, "journal.head holds no number and hash")
    with pytest.raises(HeadError):
        read_head(head_path(copy))


def test_a_file_that_nobody_can_read_to_its_end_is_a_problem(copy: Path) -> None:
    head_path(copy).unlink()
    os.mkfifo(head_path(copy))
    assert problem(copy) == Problem(COUNT + 1, "journal.head is not a plain file")


def test_a_file_that_names_the_newest_record_is_none(history: Path) -> None:
    assert problem(history) is None


def test_records_after_the_last_writing_are_none(copy: Path) -> None:
    with forger(copy) as connection:
        hash_ = connection.execute("SELECT hash FROM record WHERE seq = 5").fetchone()[0]
    for head in (START, Head(5, hash_)):
        HeadFile(head_path(copy)).write(head, durable=False)
        assert problem(copy) is None


@pytest.mark.parametrize("kept", range(COUNT))
def test_a_cut_tail_shows(copy: Path, kept: int) -> None:
    with forger(copy) as connection:
        connection.execute("DELETE FROM record WHERE seq > ?", (kept,))
    assert problem(copy) == Problem(
        kept + 1,
        f"record {COUNT} is missing: journal.head names it, the journal ends at record {kept}",
    )


def test_a_record_that_was_written_anew_shows(copy: Path) -> None:
    with forger(copy) as connection:
        connection.execute("UPDATE record SET hash = 'ff' WHERE seq = ?", (COUNT,))
    assert problem(copy) == Problem(
        COUNT, f"record {COUNT} has another hash than journal.head says"
    )


def test_without_the_file_any_journal_that_holds_a_record_may_have_been_cut(copy: Path) -> None:
    head_path(copy).unlink()
    assert problem(copy) == Problem(
        COUNT + 1,
        f"journal.head is missing: whether records after {COUNT} were cut off cannot be told",
    )
    with forger(copy) as connection:
        connection.execute("DELETE FROM record")
    assert problem(copy) is None
