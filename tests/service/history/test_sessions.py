"""The sessions of the past: all of them, and the records of one, with an index and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.history.test_call_pages import written
from tests.service.search.conftest import RECORDS, indexed
from watchgate.core.filters.filter_parser import parse
from watchgate.service.history import record_pages, recorded_sessions
from watchgate.service.search import index_query
from watchgate.service.search.index_file import remove_index, sessions_in

OF = [(record.agent, record.session) for record in RECORDS if record.agent and record.session]


@pytest.fixture(params=["whole index", "half an index", "no index"])
def some(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "journal.db"
    half = len(RECORDS) // 2
    if request.param == "half an index":
        written(path, RECORDS[:half])
        assert indexed(path) == ""
        path.unlink()
    written(path, RECORDS)
    if request.param == "whole index":
        assert indexed(path) == ""
    return path


def test_every_session_is_listed_the_newest_first(some: Path) -> None:
    found = recorded_sessions.all_sessions(some)
    assert {(each.agent, each.session) for each in found} == set(OF)
    assert [each.last_seq for each in found] == sorted((e.last_seq for e in found), reverse=True)
    whole = {(each.agent, each.session): each for each in sessions_in(RECORDS)}
    assert {(each.agent, each.session): each for each in found} == whole


def test_the_records_of_a_session_are_all_of_them_in_their_order(some: Path) -> None:
    for agent, session in set(OF):
        found = [record.seq for record in recorded_sessions.records_of(some, agent, session)]
        assert found == [r.seq for r in RECORDS if (r.agent, r.session) == (agent, session)]


def test_the_records_of_some_kinds_wherever_they_are(some: Path) -> None:
    wanted = ("approval.decided", "policy.started")
    found = [record.seq for record in index_query.records_of_kinds(some, wanted, 2, len(RECORDS))]
    assert found == [r.seq for r in RECORDS[1:] if r.kind in wanted]
    assert list(index_query.records_of_kinds(some, wanted, 9, 8)) == []


def test_one_session_is_not_another_that_begins_so(some: Path) -> None:
    assert recorded_sessions.records_of(some, "claude", "on") == []
    remove_index(some)
    assert record_pages.search(some, parse("session:on"), 5)["records"] == []
