"""The thread of a core that keeps the index up to the journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.scribe import Scribe
from watchgate.service.journal.writer import Journal
from watchgate.service.search.index_file import index_path
from watchgate.service.search.index_query import index_of
from watchgate.service.search.indexer import Indexer, IndexerPace

LONG_S = 30.0


@pytest.fixture
def scribe(tmp_path: Path) -> Iterator[Scribe]:
    journal = Journal.open(tmp_path / "journal.db")
    yield Scribe(journal)
    journal.close()


@pytest.fixture
def indexer(scribe: Scribe) -> Iterator[Indexer]:
    """One that never acts by itself for as long as a test takes, but when it is told to."""
    made = Indexer(scribe.journal.path, pace=IndexerPace(gather_s=600, retry_s=600))
    yield made
    made.close()


def upto(path: Path) -> int:
    with index_of(path) as index:
        assert index is not None
        return index.upto


def test_what_was_committed_is_indexed(scribe: Scribe, indexer: Indexer) -> None:
    for count in (3, 300):
        scribe.write(count)
        assert scribe.commit()
        assert indexer.settle(LONG_S)
    assert upto(scribe.journal.path) == 303


def test_a_record_wakes_it(scribe: Scribe) -> None:
    indexer = Indexer(scribe.journal.path, pace=IndexerPace(gather_s=0.0))
    assert indexer.settle(LONG_S)
    row = scribe.write()
    assert scribe.commit()
    indexer.offer(row.record())
    assert indexer.settle(LONG_S)
    indexer.close()
    assert upto(scribe.journal.path) == 1


def test_after_forgetting_nothing_old_is_left_and_all_is_indexed_anew(
    scribe: Scribe, indexer: Indexer
) -> None:
    path = scribe.journal.path
    scribe.write(5, "secretword")
    assert scribe.commit()
    assert indexer.settle(LONG_S)
    scribe.journal.close()
    indexer.forget()
    assert not index_path(path).exists()
    assert indexer.settle(LONG_S)
    assert upto(path) == 5


def test_a_fault_is_told_until_it_is_over(tmp_path: Path) -> None:
    indexer = Indexer(tmp_path / "journal.db", pace=IndexerPace(gather_s=600, retry_s=600))
    assert not indexer.settle(LONG_S)
    assert "does not exist yet" in indexer.fault
    journal = Journal.open(tmp_path / "journal.db")
    assert indexer.settle(LONG_S)
    assert indexer.fault == ""
    indexer.close()
    journal.close()


def test_it_ends_in_the_middle_of_its_work(scribe: Scribe) -> None:
    scribe.write(20)
    assert scribe.commit()
    indexer = Indexer(scribe.journal.path)
    indexer.close()
    again = Indexer(scribe.journal.path)
    assert again.settle(LONG_S)
    again.close()
    assert upto(scribe.journal.path) == 20
