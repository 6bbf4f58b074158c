from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.service.scribe import write_history
from watchgate.cli.exits import Exit


@pytest.fixture
def journal() -> Path:
    path = Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db"
    path.parent.mkdir(parents=True, mode=0o700)
    write_history(path, 20)
    return path


def tamper(journal: Path, statement: str) -> None:
    with closing(sqlite3.connect(journal)) as connection:
        connection.execute(statement)
        connection.commit()


def test_a_sound_journal_is_unbroken(cli: Cli, journal: Path) -> None:
    said = cli("audit", "verify")
    assert said.code == Exit.DONE
    assert "20 records, unbroken up to 20" in said.out
    (line,) = cli("audit", "verify", "--json").lines
    assert (line["ok"], line["records"], line["seq"], line["problem"]) == (True, 20, 20, None)
    assert len(line["hash"]) == 64


@pytest.mark.parametrize(
    ("statement", "record", "words"),
    [
        ("UPDATE record SET kind = 'other' WHERE seq = 7", 7, "hash"),
        ("UPDATE record SET data = '{}' WHERE seq = 9", 9, "digest"),
        ("DELETE FROM record WHERE seq = 12", 12, "missing"),
        ("DELETE FROM record WHERE seq > 15", 16, ""),
    ],
)
def test_a_changed_journal_exits_1_and_names_the_first_record(
    cli: Cli, journal: Path, statement: str, record: int, words: str
) -> None:
    tamper(journal, statement)
    said = cli("audit", "verify")
    assert said.code == Exit.REFUSED
    assert words in said.out
    (line,) = cli("audit", "verify", "--json").lines
    assert line["ok"] is False
    assert line["problem"]
    if words:
        assert (line["problem_seq"], line["records"]) == (record, record - 1)
        assert f"record {record}" in said.out


def test_without_a_journal_there_is_nothing_to_verify(cli: Cli) -> None:
    said = cli("audit", "verify")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "nothing was recorded" in said.err


def test_a_file_that_is_no_journal_is_said(cli: Cli, journal: Path) -> None:
    journal.write_bytes(b"no database at all" * 100)
    said = cli("audit", "verify")
    assert said.code == Exit.REFUSED
    assert str(journal) in said.err
