from __future__ import annotations

import codecs
import os
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.scribe import write_history
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError, open_to_read, open_to_write
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal

NOBODY = 65534


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


@pytest.fixture
def unprivileged_dir() -> Iterator[Path]:
    """A directory of the user that the test then runs as: never root, whom no mode stops."""
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="wg") as name:
        folder = Path(name)
        if os.geteuid() != 0:
            yield folder
            folder.chmod(0o700)
            return
        codecs.lookup("ascii")  # that user may not read the library in which this is found
        os.chown(folder, NOBODY, NOBODY)
        os.seteuid(NOBODY)
        try:
            yield folder
        finally:
            os.seteuid(0)


def execute(path: Path, statements: str) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(statements)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        ("CREATE TABLE other (x)", "the database of another program"),
        ("PRAGMA user_version = 3", "the database of another program"),
        ("PRAGMA application_id = 7", "the database of another program"),
    ],
)
def test_another_programs_database_is_left_alone(path: Path, statements: str, words: str) -> None:
    execute(path, statements)
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(JournalError, match=words):
        Journal.open(path)
    assert path.read_bytes() == before


def test_a_newer_format_is_refused_with_the_mend(path: Path) -> None:
    write_history(path, 1)
    execute(path, "PRAGMA user_version = 3")
    for opened in (open_to_write, open_to_read):
        with pytest.raises(JournalError, match=r"newer Watchgate \(format 3, .* 2\): upgrade"):
            opened(path)


@pytest.mark.parametrize("version", [0, -1])
def test_a_journal_without_its_format_is_not_taken_for_a_new_one(path: Path, version: int) -> None:
    write_history(path, 1)
    execute(path, f"PRAGMA user_version = {version}")
    with pytest.raises(JournalError, match="another program"):
        open_to_write(path)


def test_what_is_not_a_database_is_refused(path: Path) -> None:
    path.write_bytes(b"once upon a time " * 500)
    path.chmod(0o600)
    with pytest.raises(JournalError, match="is not a database: move it away"):
        Journal.open(path)
    with pytest.raises(JournalError, match="is not a database"):
        journal_reader.tail(path, 1)


def test_an_empty_file_becomes_a_journal_and_cannot_be_read_before(path: Path) -> None:
    path.touch(mode=0o600)
    with pytest.raises(JournalError, match="empty database"):
        verify_journal(path)
    Journal.open(path).close()
    assert verify_journal(path).count == 0


def test_a_damaged_journal_is_refused(path: Path) -> None:
    write_history(path, 200)
    content = bytearray(path.read_bytes())
    content[4_096:] = b"\xaa" * (len(content) - 4_096)
    path.write_bytes(content)
    with pytest.raises(JournalError, match="is damaged: stop the core and move it away"):
        Journal.open(path)


@pytest.mark.parametrize("mode", [0o644, 0o660, 0o606])
def test_a_journal_open_to_others_is_refused_with_the_command_that_mends_it(
    path: Path, mode: int
) -> None:
    write_history(path, 1)
    path.chmod(mode)
    with pytest.raises(JournalError, match=f"mode {mode:04o}.*chmod 600 {path}"):
        Journal.open(path)


def make_folder(path: Path) -> None:
    path.mkdir()


def make_link(path: Path) -> None:
    real = path.with_name("real.db")
    real.touch(mode=0o600)
    path.symlink_to(real)


@pytest.mark.parametrize("make", [make_folder, make_link])
def test_only_a_plain_file_is_a_journal(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    with pytest.raises(JournalError, match="not a plain file"):
        Journal.open(path)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_journal_is_refused(path: Path) -> None:
    write_history(path, 1)
    os.chown(path, NOBODY, NOBODY)
    with pytest.raises(JournalError, match=f"belongs to user {NOBODY}"):
        Journal.open(path)


def test_a_journal_without_its_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="No such file or directory") as refused:
        Journal.open(tmp_path / "nowhere" / "journal.db")
    assert not refused.value.mendable, "a core does not wait for that"


def test_a_locked_journal_is_refused(path: Path) -> None:
    write_history(path, 1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="locked by another program") as refused:
            open_to_write(path, busy_timeout_s=0)
    assert refused.value.mendable, "a core may wait for that"


def test_a_read_only_directory_is_refused(unprivileged_dir: Path) -> None:
    unprivileged_dir.chmod(0o500)
    with pytest.raises(JournalError, match=r"Permission denied.*write access") as refused:
        Journal.open(unprivileged_dir / "journal.db")
    assert refused.value.mendable, "a core may wait for that"


def test_a_read_only_file_is_refused_and_stays_readable(unprivileged_dir: Path) -> None:
    path = unprivileged_dir / "journal.db"
    write_history(path, 3)
    path.chmod(0o400)
    with pytest.raises(JournalError, match="give yourself write access") as refused:
        Journal.open(path)
    assert refused.value.mendable, "a core may wait for that"
    assert verify_journal(path).count == 3


def test_a_reader_cannot_write(path: Path) -> None:
    write_history(path, 1)
    with (
        closing(open_to_read(path)) as connection,
        pytest.raises(sqlite3.OperationalError, match="readonly"),
    ):
        connection.execute("DELETE FROM record")


def test_a_path_with_awkward_characters_is_opened(tmp_path: Path) -> None:
    folder = tmp_path / "50% of?it#here é"
    folder.mkdir()
    write_history(folder / "journal.db", 2)
    assert verify_journal(folder / "journal.db").count == 2
