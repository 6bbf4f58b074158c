from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Cli
from tests.service.past import Past
from tests.service.scribe import write_history
from watchgate.cli.base.printing import Exit
from watchgate.service.journal import journal_reader


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


@pytest.mark.parametrize("verb", ["verify", "anchor"])
def test_no_journal_is_not_taken_for_a_broken_one(cli: Cli, verb: str) -> None:
    said = cli("audit", verb)
    assert (said.code, said.out) == (Exit.NO_CORE, "")
    assert "nothing was recorded" in said.err


def test_a_file_that_is_no_journal_is_said(cli: Cli, journal: Path) -> None:
    journal.write_bytes(b"no database at all" * 100)
    said = cli("audit", "verify")
    assert said.code == Exit.REFUSED
    assert str(journal) in said.err


def exported(journal: Path, *without: int) -> Path:
    """The journal as `export` writes it, without some of its records."""
    path = journal.with_name("export.jsonl")
    kept = [each for each in journal_reader.tail(journal, 1_000) if each.seq not in without]
    path.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in kept))
    return path


def test_a_journal_elsewhere_is_held_against_the_head_file_beside_it(
    cli: Cli, journal: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "evidence.db"
    shutil.copy(journal, copy)
    said = cli("audit", "verify", str(copy))
    assert said.code == Exit.REFUSED
    assert "evidence.head is missing" in said.out
    shutil.copy(journal.with_name("journal.head"), tmp_path / "evidence.head")
    assert cli("audit", "verify", str(copy)).code == Exit.DONE


def test_an_exported_file_is_verified_as_far_as_it_goes(cli: Cli, journal: Path) -> None:
    said = cli("audit", "verify", str(exported(journal)))
    assert said.code == Exit.DONE
    assert "20 records, unbroken up to 20" in said.out
    said = cli("audit", "verify", str(exported(journal, 1, 2, 3)))
    assert (said.code, "begins behind record 3" in said.out) == (Exit.DONE, True)
    assert "checkpoint" not in said.out
    said = cli("audit", "verify", str(exported(journal, 8)))
    assert said.code == Exit.REFUSED
    assert "record 8 is missing" in said.out
    assert "an export with a filter leaves records out" in said.err


def test_a_file_that_is_neither_says_what_can_be_verified(cli: Cli, tmp_path: Path) -> None:
    said = cli("audit", "verify", str(tmp_path / "nowhere"))
    assert said.code == Exit.REFUSED
    assert "name a journal.db or a file of `watchgate export`" in said.err
    (tmp_path / "letter").write_text("dear sir")
    said = cli("audit", "verify", str(tmp_path / "letter"))
    assert said.code == Exit.REFUSED
    assert "line 1 is not JSON" in said.err


def test_an_anchor_is_printed_and_holds_as_long_as_nothing_was_changed(
    cli: Cli, journal: Path
) -> None:
    anchor = cli("audit", "anchor").out.strip()
    (line,) = cli("audit", "anchor", "--json").lines
    assert anchor == f"{line['seq']}:{line['hash']}"
    assert cli("audit", "verify", "--anchor", anchor).code == Exit.DONE
    other = f"{line['seq']}:{'0' * 64}"
    said = cli("audit", "verify", "--anchor", anchor, "--anchor", other)
    assert said.code == Exit.REFUSED
    assert "record 20 has another hash than its anchor says" in said.out
    later = cli("audit", "verify", "--anchor", f"25:{'0' * 64}")
    assert "record 25 is missing: an anchor names it, the last one is record 20" in later.out


def test_what_is_no_anchor_is_a_usage_error(cli: Cli, journal: Path) -> None:
    said = cli("audit", "verify", "--anchor", "20")
    assert said.code == Exit.USAGE
    assert "give the SEQ:HASH that `watchgate audit anchor` printed" in said.err


def test_a_broken_or_empty_journal_has_no_anchor(cli: Cli, journal: Path) -> None:
    tamper(journal, "DELETE FROM record WHERE seq = 5")
    said = cli("audit", "anchor")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "record 5 is missing" in said.err
    journal.with_name("journal.head").unlink()
    tamper(journal, "DELETE FROM record")
    assert "nothing to anchor yet" in cli("audit", "anchor").err


def test_what_a_sound_journal_lacks_is_said(cli: Cli) -> None:
    past = Past()
    for session in "abbac":
        past.note(session)
    known = [f"{row.seq}:{row.hash}" for row in past.rows]
    past.let_go(2, 2)
    past.purge("b")
    past.written(Path(os.environ["WATCHGATE_STATE_DIR"]) / "journal.db")
    said = cli("audit", "verify", "--anchor", known[0], "--anchor", known[3])
    assert said.code == Exit.DONE
    assert "removed earlier, as a checkpoint says: up to record 2" in said.out
    assert "purged, with only the digest of their data left: 1" in said.out
    assert "the anchor of record 1 is older than the oldest record that is kept" in said.err
    (line,) = cli("audit", "verify", "--json", "--anchor", known[0]).lines
    assert (line["removed_to"], line["purged"], line["anchors_too_old"]) == (2, 1, [1])


def test_records_that_no_head_file_names_are_told(cli: Cli, journal: Path) -> None:
    path = journal.with_name("journal.head")
    before = path.read_bytes()
    write_history(journal, 2)
    path.write_bytes(before)
    said = cli("audit", "verify")
    assert said.code == Exit.DONE
    assert "newer than journal.head: 2 " in said.out


def test_progress_is_shown_on_a_terminal_alone(
    cli: Cli, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watchgate.core.chain.chain_walk.PROGRESS_ROWS", 10)
    assert cli("audit", "verify").err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    said = cli("audit", "verify")
    assert "\r\x1b[K10 records\r\x1b[K20 records" in said.err
    assert "20 records, unbroken" in said.out
