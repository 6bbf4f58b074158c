"""Recorded calls from a journal on disk, a page at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.state.test_state import HISTORY
from tests.service.scribe import Scribe, committed
from watchgate.core.chain.hash_chain import START, Chain
from watchgate.core.filters.filter_parser import Filter, parse
from watchgate.core.history.call_history import fold_history
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Draft, Record
from watchgate.core.secrets.redact import Content, journal_json
from watchgate.service.history import call_pages
from watchgate.service.history.call_pages import CoreView
from watchgate.service.journal import journal_reader
from watchgate.service.journal.schema import JournalError, open_to_write
from watchgate.service.journal.writer import Journal

RECORDS = tuple(HISTORY.records)
ALL = Filter()


def written(path: Path, records: tuple[Record, ...], content: Content = "full") -> Path:
    """A journal on disk that holds these records."""
    journal = Journal.open(path)
    chain = Chain("core", START, lambda data: journal_json(data, content))
    for each in records:
        names = ("kind", "at", "data", "agent", "session", "sub", "call", "request")
        _, row = chain.seal(Draft(**{name: getattr(each, name) for name in names}))
        journal.append(row)
    assert committed(journal)
    journal.close()
    return path


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("calls") / "journal.db", RECORDS)


def pages(journal: Path, wanted: Filter = ALL, *, limit: int = 100) -> list[dict[str, Any]]:
    """Every page, from the newest on."""
    answers = [call_pages.calls(journal, wanted, limit=limit)]
    while (before := answers[-1]["next"]) is not None:
        answers.append(call_pages.calls(journal, wanted, limit=limit, before=before))
    return answers


def rows(journal: Path, wanted: Filter = ALL, *, limit: int = 100) -> list[HistoryRow]:
    return [row for page in pages(journal, wanted, limit=limit) for row in page["calls"]]


def test_the_calls_come_newest_first(journal: Path) -> None:
    assert rows(journal) == fold_history(RECORDS, 100)[::-1]


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(page=st.integers(1, 40), limit=st.integers(1, 12), looked_at=st.integers(1, 60))
def test_pages_of_any_size_give_the_same_rows_as_one(
    journal: Path, page: int, limit: int, looked_at: int
) -> None:
    whole = fold_history(RECORDS, 100)[::-1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(call_pages, "FIRST_PAGE", page)
        patch.setattr(call_pages, "LOOKED_AT", looked_at)
        assert rows(journal, limit=limit) == whole
        denied = [row for row in whole if "denied" in row.state]
        assert rows(journal, parse("state:denied"), limit=limit) == denied


def test_one_request_looks_only_so_far_and_says_where_to_go_on(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_pages, "FIRST_PAGE", 4)
    monkeypatch.setattr(call_pages, "LOOKED_AT", 8)
    answer = call_pages.calls(journal, parse("nothing-is-called-so"), limit=10)
    assert answer["calls"] == []
    assert answer["records"] == len(RECORDS)
    assert answer["next"] == len(RECORDS) - answer["looked_at"] + 1
    assert 8 <= answer["looked_at"] < len(RECORDS)


def test_a_request_that_takes_long_is_cut_short(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_pages, "FIRST_PAGE", 4)
    seconds = iter((0.0, 60.0))
    answer = call_pages.calls(journal, ALL, limit=100, now_s=lambda: next(seconds))
    assert answer["looked_at"] == 4


def test_all_pages_together_have_looked_at_every_record(journal: Path) -> None:
    for limit in (1, 3, 100):
        assert sum(page["looked_at"] for page in pages(journal, limit=limit)) == len(RECORDS)


@pytest.mark.parametrize("before", [-5, 0, 1, 2**70])
def test_a_number_that_no_record_has_gives_an_answer(journal: Path, before: int) -> None:
    answer = call_pages.calls(journal, ALL, limit=5, before=before)
    assert len(answer["calls"]) == (5 if before > 1 else 0)


def test_what_changed_is_told_with_what_the_filter_does_not_take(journal: Path) -> None:
    whole = fold_history(RECORDS, 100)[::-1]
    from_seq = RECORDS[-1].seq - 20
    touched = [row for row in whole if row.last >= from_seq]
    answer = call_pages.changed(journal, parse("state:denied"), from_seq)
    assert answer["calls"] == [row for row in touched if row.outcome == "denied"]
    assert answer["gone"] == [row.first for row in touched if row.outcome != "denied"]
    assert (answer["reset"], answer["newest"]) == (False, RECORDS[-1].seq)


def test_after_too_many_records_a_page_has_to_be_asked_for_anew(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_pages, "CHANGED", 3)
    assert call_pages.changed(journal, ALL, 1)["reset"] is True


def test_the_core_says_how_sessions_are_called_and_what_goes_on(journal: Path) -> None:
    names = {("claude", "one"): "api-fix"}
    waits = fold_history(RECORDS, 100)[-1]
    alive = frozenset({(waits.agent, waits.session, waits.call)})
    newest = call_pages.calls(journal, ALL, limit=1, view=CoreView(names=names, alive=alive))
    assert newest["calls"][0].label == "api-fix"
    assert newest["calls"][0].outcome == "pending"


@pytest.mark.parametrize("content", ["commands", "none"])
def test_a_journal_that_keeps_less_shows_what_it_has(tmp_path: Path, content: Content) -> None:
    found = rows(written(tmp_path / "journal.db", RECORDS, content))
    whole = fold_history(RECORDS, 100)[::-1]
    assert [(row.call, row.outcome, row.tool) for row in found] == [
        (row.call, row.outcome, row.tool) for row in whole
    ]
    assert [row.summary for row in found] == [
        row.summary if content == "commands" else row.tool for row in whole
    ]


def test_a_filter_by_time_ends_where_nothing_can_pass(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(call_pages, "FIRST_PAGE", 4)
    late = RECORDS[-1].at + 2 * journal_reader.SLACK_US
    answer = call_pages.calls(journal, parse("since:1h", now_us=late), limit=10)
    assert (answer["calls"], answer["next"]) == ([], None)


def test_purged_records_never_raise(tmp_path: Path) -> None:
    path = written(tmp_path / "journal.db", RECORDS)
    connection = open_to_write(path)
    connection.execute("UPDATE record SET data = NULL WHERE seq % 2 = 0")
    connection.close()
    assert {row.call for row in rows(path)} == {row.call for row in fold_history(RECORDS, 100)}


def test_records_of_no_call_are_counted_and_give_no_row(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal.db")
    Scribe(journal).write(30)
    assert committed(journal)
    journal.close()
    answer = call_pages.calls(tmp_path / "journal.db", ALL, limit=5)
    assert answer == {"calls": [], "next": None, "looked_at": 30, "records": 30, "newest": 30}


def test_without_a_journal_there_is_an_error_to_read(tmp_path: Path) -> None:
    with pytest.raises(JournalError):
        call_pages.calls(tmp_path / "none.db", ALL, limit=3)


def test_the_answer_is_as_small_as_what_it_tells(journal: Path) -> None:
    row = rows(journal)[0]
    assert len(msgspec.json.encode(row)) < 600


@pytest.mark.parametrize("number", [2**70, -(2**70), 0])
def test_numbers_that_no_record_can_have_give_an_answer(journal: Path, number: int) -> None:
    assert call_pages.changed(journal, ALL, number)["newest"] == len(RECORDS)
    assert call_pages.calls(journal, ALL, limit=number, before=number)["newest"] == len(RECORDS)
