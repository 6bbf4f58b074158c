"""A purge takes the payloads of a session off the disk and leaves a journal that verifies."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.past import Past
from watchgate.core.chain.hash_chain import Head
from watchgate.link.paths import Paths, paths
from watchgate.service.history.session_purge import (
    SessionHolding,
    empty_log,
    purge_alone,
    session_holding,
)
from watchgate.service.journal import journal_reader
from watchgate.service.journal.journal_disk import HeadFile, head_path, read_head
from watchgate.service.journal.schema import JournalError
from watchgate.service.journal.verification import verify_journal
from watchgate.service.journal.writer import Journal
from watchgate.service.search.index_file import index_path
from watchgate.service.system.runtime_dir import CoreRunningError, RuntimeDir


@pytest.fixture
def place(runtime_dir: Path, state_dir: Path) -> Paths:
    place = paths(os.environ)
    place.state_dir.mkdir(parents=True, mode=0o700)
    past = Past()
    for session in ("secret-plan", "other", "secret-plan"):
        past.note(session)
    past.written(place.journal)
    return place


def purged(place: Paths, session: str = "secret-plan") -> SessionHolding:
    return purge_alone(place, "claude", session, by="operator kim", at=9, content="full")[0]


def on_disk(place: Paths) -> bytes:
    """Every byte of the journal and of what lies beside it."""
    return b"".join(file.read_bytes() for file in place.state_dir.iterdir())


def test_what_a_session_has_is_told_by_its_records(place: Paths) -> None:
    assert session_holding(place.journal, "claude", "secret-plan").seqs == (1, 3)
    assert session_holding(place.journal, "claude", "other").seqs == (2,)
    assert not session_holding(place.journal, "codex", "other").known


def test_a_purge_drops_the_data_and_says_so_in_a_record_of_the_core(place: Paths) -> None:
    assert purged(place).seqs == (1, 3)
    one, two, three, told = journal_reader.tail(place.journal, 10)
    assert (one.data, three.data) == ({}, {})
    assert two.data["text"] == "in other"
    assert (told.kind, told.at, told.agent, told.session) == ("policy.purged", 9, None, None)
    assert told.data == {
        "agent": "claude",
        "session": "secret-plan",
        "count": 2,
        "upto": 3,
        "by": "operator kim",
    }
    verdict = verify_journal(place.journal)
    assert (verdict.problem, verdict.purged, verdict.unheaded) == (None, 2, 0)
    assert read_head(head_path(place.journal)) == Head(told.seq, told.hash)


def test_nothing_of_the_data_is_left_in_any_file(place: Paths) -> None:
    index_path(place.journal).write_bytes(b"the words: in secret-plan")
    text = b"in secret-plan"
    assert text in on_disk(place)
    purged(place)
    assert empty_log(place.journal)
    assert text not in on_disk(place)
    assert b"in other" in on_disk(place)


def test_a_second_purge_finds_nothing_and_records_nothing(place: Paths) -> None:
    purged(place)
    assert purged(place) == SessionHolding("claude", "secret-plan", (), known=True)
    assert len(journal_reader.tail(place.journal, 10)) == 4


def test_a_session_that_nobody_recorded_changes_nothing(place: Paths) -> None:
    assert not purged(place, "nobody").known
    assert len(journal_reader.tail(place.journal, 10)) == 3


def test_beside_a_core_the_core_has_to_do_it(place: Paths) -> None:
    with RuntimeDir(place), pytest.raises(CoreRunningError):
        purged(place)
    assert session_holding(place.journal, "claude", "secret-plan").seqs == (1, 3)


def test_a_journal_that_is_not_what_was_written_keeps_what_shows_it(place: Paths) -> None:
    wrong = Head(3, "f" * 64)
    HeadFile(head_path(place.journal)).write(wrong, durable=False)
    with pytest.raises(JournalError, match="is not what was written"):
        purged(place)
    assert session_holding(place.journal, "claude", "secret-plan").seqs == (1, 3)
    assert read_head(head_path(place.journal)) == wrong


def test_the_next_core_goes_on_behind_a_purge(place: Paths) -> None:
    purged(place)
    journal = Journal.open(place.journal)
    assert (journal.head.seq, journal.fault) == (4, None)
    journal.close()


def test_a_log_that_somebody_reads_is_not_empty_yet(place: Paths) -> None:
    with closing(sqlite3.connect(place.journal)) as writer:
        with closing(sqlite3.connect(place.journal)) as reader:
            reader.execute("BEGIN")
            reader.execute("SELECT * FROM record").fetchone()
            with writer:
                writer.execute("UPDATE record SET data = NULL WHERE seq = 1")
            assert not empty_log(place.journal)
        assert empty_log(place.journal)
