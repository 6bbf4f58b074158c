from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.scribe import write_history
from watchgate.core.filters.filter_parser import Filter, parse
from watchgate.service.history import record_pages
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    write_history(path, 30)
    return path


def found(
    journal: Path, wanted: Filter, limit: int, first: int | None = None, last: int | None = None
) -> tuple[list[int], int | None]:
    """The numbers of the records that a search finds, and where it would go on."""
    answer = record_pages.search(journal, wanted, limit, first, last)
    return [record.seq for record in answer["records"]], answer["next"]


def test_a_range_is_given_in_order(journal: Path) -> None:
    assert [r.seq for r in record_pages.between(journal, 5, 8)] == [5, 6, 7, 8]
    assert record_pages.between(journal, 31, 99) == []


def test_a_page_is_all_there_is_at_once(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_pages, "PAGE", 10)
    assert [r.seq for r in record_pages.between(journal, 1, 30)] == list(range(1, 11))


def test_numbers_that_no_record_can_have_give_nothing(journal: Path) -> None:
    assert record_pages.between(journal, 2**70, 2**71) == []
    assert record_pages.between(journal, 9, 8) == []
    assert [r.seq for r in record_pages.between(journal, -(2**70), 2)] == [1, 2]
    assert [r.seq for r in record_pages.between(journal, 29, 2**70)] == [29, 30]


def test_a_search_gives_the_newest_first_and_no_more_than_asked(journal: Path) -> None:
    assert found(journal, parse("agent:claude"), 3) == ([30, 29, 28], 27)
    assert len(found(journal, Filter(), 100)[0]) == 30
    assert found(journal, parse("agent:codex"), 3) == ([], None)


def test_a_search_looks_only_so_far_back(journal: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(record_pages, "SEARCHED", 10)
    assert found(journal, Filter(), 100) == (list(range(30, 20, -1)), 20)
    assert found(journal, Filter(), 100, None, 20) == (list(range(20, 10, -1)), 10)


def test_without_a_journal_there_is_an_error_to_read(tmp_path: Path) -> None:
    with pytest.raises(JournalError):
        record_pages.search(tmp_path / "none.db", Filter(), 3)


def test_a_search_can_be_kept_between_two_records(journal: Path) -> None:
    assert found(journal, Filter(), 100, 5, 9) == ([9, 8, 7, 6, 5], None)
    assert found(journal, Filter(), 100, 31, 99) == ([], None)
    assert found(journal, Filter(), 2, 28, 2**70) == ([30, 29], 28)
    for first, last in ((2**70, 2**71), (-(2**70), -(2**70)), (9, 8)):
        assert found(journal, Filter(), 100, first, last) == ([], None)


def test_no_limit_makes_an_answer_longer_than_a_page(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_pages, "PAGE", 4)
    assert found(journal, Filter(), 10**9) == ([30, 29, 28, 27], 26)
    assert found(journal, Filter(), -1) == ([30], 29)


def test_an_answer_ends_after_so_many_bytes_and_has_one_record_at_least(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(record_pages, "ANSWER_BYTES", 1)
    assert found(journal, Filter(), 100) == ([30], 29)
    assert [r.seq for r in record_pages.between(journal, 5, 9)] == [5]


def test_a_search_that_takes_long_says_where_to_go_on(journal: Path) -> None:
    seconds = iter(range(100))
    answer = record_pages.search(
        journal, parse("agent:codex"), 9, now_s=lambda: float(next(seconds))
    )
    assert answer == {"records": [], "next": 29}


def test_nothing_older_than_is_wanted_is_looked_at(journal: Path) -> None:
    late = record_pages.between(journal, 30, 30)[0].at + 2 * journal_reader.SLACK_US
    wanted = parse("since:1s", now_us=late)
    seconds = iter([0.0])
    answer = record_pages.search(journal, wanted, 9, now_s=lambda: next(seconds))
    assert answer == {"records": [], "next": None}
