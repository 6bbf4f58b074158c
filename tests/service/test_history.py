from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.scribe import write_history
from watchgate.core.filters import Filter, parse
from watchgate.service import history
from watchgate.service.journal_schema import JournalError


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    write_history(path, 30)
    return path


def test_a_range_is_given_in_order(journal: Path) -> None:
    assert [r.seq for r in history.between(journal, 5, 8)] == [5, 6, 7, 8]
    assert history.between(journal, 31, 99) == []


def test_a_page_is_all_there_is_at_once(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 10)
    assert [r.seq for r in history.between(journal, 1, 30)] == list(range(1, 11))


def test_numbers_that_no_record_can_have_give_nothing(journal: Path) -> None:
    assert history.between(journal, 2**70, 2**71) == []
    assert history.between(journal, 9, 8) == []
    assert [r.seq for r in history.between(journal, -(2**70), 2)] == [1, 2]
    assert [r.seq for r in history.between(journal, 29, 2**70)] == [29, 30]


def test_a_search_gives_the_newest_first_and_no_more_than_asked(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "PAGE", 4)
    assert [r.seq for r in history.search(journal, parse("agent:claude"), 3)] == [30, 29, 28]
    assert len(history.search(journal, Filter(), 100)) == 30
    assert history.search(journal, parse("agent:codex"), 3) == []


def test_a_search_looks_only_so_far_back(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(history, "PAGE", 5)
    monkeypatch.setattr(history, "SEARCHED", 10)
    assert [r.seq for r in history.search(journal, Filter(), 100)] == list(range(30, 20, -1))


def test_without_a_journal_there_is_an_error_to_read(tmp_path: Path) -> None:
    with pytest.raises(JournalError):
        history.search(tmp_path / "none.db", Filter(), 3)
