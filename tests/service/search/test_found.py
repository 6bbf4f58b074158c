"""What a search finds is what its filter takes, with an index of all records or of some."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.core.filters.test_filter_agreement import TERMS
from tests.core.state.test_state import HISTORY
from tests.service.history.test_call_pages import written
from watchgate.core.filters.filter_fields import RECORD_FIELDS, history_test, record_text
from watchgate.core.filters.filter_parser import parse
from watchgate.core.history.call_history import fold_history
from watchgate.core.history.history_row import HistoryRow
from watchgate.core.model.records import Record
from watchgate.service.history import call_pages, record_pages
from watchgate.service.history.call_pages import CoreView
from watchgate.service.search import index_file
from watchgate.service.search.index_terms import call_conditions, record_condition
from watchgate.service.search.indexer import Upkeep

RECORDS = tuple(HISTORY.records)
VIEW = CoreView(names={("claude", "one"): "api-fix", ("codex", "two"): "web"}, me="kim")
CALLS = fold_history(RECORDS, len(RECORDS), names=VIEW.names, me=VIEW.me)
TEXTS = [
    *(record_text(record) for record in RECORDS),
    *(
        f"{row.summary}  {row.outcome}  {row.by}  {row.reason}  {row.rule}  {row.why}"
        for row in CALLS
    ),
]
WORDS = sorted({word for text in TEXTS for word in re.findall(r"[^\W_]+", text)})
SPANS = [" ".join(text.split()[:2]).replace('"', "").replace("\\", "") for text in TEXTS]
FILTERS = [
    *sorted(TERMS)[::2],
    *(f"-{term}" for term in sorted(TERMS)[::7]),
    *(f'"{word}"' for word in WORDS),
    *(f'"{word[:2]}"' for word in WORDS[::3]),
    *(f'*"{word[1:]}"' for word in WORDS[::9]),
    *(f'"{span}"' for span in sorted(set(SPANS)) if span),
    *(f"call:{row.call}" for row in CALLS if re.fullmatch(r"\w+", row.call)),
    *(f"request:{row.request}" for row in CALLS if row.request),
    *(f"session:{row.label}" for row in CALLS if re.fullmatch(r"[\w-]+", row.label)),
    *('" ran"', '"ran "', '" no re"', '" a rule "', '" rule "', "nobo", "rul", "tool:*", "state:*"),
    *("session:api-fix", "session:api*", "session:one kind:tool.pre", "git state:denied"),
    *("state:denied agent:claude tool:Bash", "nothing-is-called-so", "by:kim", "kind:approval.*"),
]


@pytest.fixture(scope="module", params=["whole", "part"])
def indexed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same journal with an index of small segments: of all of it, or of the older half."""
    journal = written(tmp_path_factory.mktemp("indexed") / "journal.db", RECORDS)
    with pytest.MonkeyPatch.context() as patch:
        _small_segments(patch)
        patch.setattr(index_file, "AT_ONCE", len(RECORDS) // 2)
        patch.setattr(index_file.records_after, "__defaults__", (len(RECORDS) // 2,))
        upkeep = Upkeep(journal)
        rounds = iter([False, request.param == "part"])
        assert upkeep.round(lambda: next(rounds, False)) == ""
        upkeep.close()
    return journal


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    for part in (record_pages, call_pages):
        monkeypatch.setattr(part, "LONGEST_S", float("inf"))
    _small_segments(monkeypatch)


def _small_segments(patch: pytest.MonkeyPatch) -> None:
    for part in ("index_file", "index_query"):
        patch.setattr(f"watchgate.service.search.{part}.SEGMENT_ROWS", 16)


def records(journal: Path, text: str, limit: int) -> list[int]:
    """The numbers of the records that a search finds, asked for page by page."""
    found: list[int] = []
    last: int | None = None
    while True:
        answer = record_pages.search(journal, parse(text), limit, None, last)
        found += [record.seq for record in answer["records"]]
        if (last := answer["next"]) is None:
            return found


def calls(journal: Path, text: str, limit: int) -> list[HistoryRow]:
    """The calls that a search finds, asked for page by page."""
    found: list[HistoryRow] = []
    before: int | None = None
    while True:
        answer = call_pages.calls(journal, parse(text), limit=limit, before=before, view=VIEW)
        found += answer["calls"]
        if (before := answer["next"]) is None:
            return found


def kept_records(text: str) -> list[int]:
    """Those that the filter itself takes, one by one."""
    keeps = parse(text).over(RECORD_FIELDS)
    return [record.seq for record in reversed(RECORDS) if keeps is None or keeps(record)]


def kept_calls(text: str) -> list[HistoryRow]:
    return [row for row in reversed(CALLS) if history_test(parse(text))(row)]


def test_records_are_what_the_filter_takes(indexed: Path) -> None:
    for text in FILTERS:
        assert records(indexed, text, 500) == kept_records(text), text


def test_calls_are_what_the_filter_takes(indexed: Path) -> None:
    for text in FILTERS:
        assert calls(indexed, text, 500) == kept_calls(text), text


@pytest.mark.parametrize("text", ["git", "state:denied", "session:one", "kind:tool.* agent:claude"])
def test_pages_join_without_a_seam(indexed: Path, text: str) -> None:
    for limit in (1, 2, 5):
        assert records(indexed, text, limit) == kept_records(text)
        assert calls(indexed, text, limit) == kept_calls(text)


def test_a_call_is_found_by_what_only_a_later_request_of_it_told(tmp_path: Path) -> None:
    """Also where a page ends between its first record and that one."""
    asked = {"native": "PermissionRequest", "lane": "gate", "gate": "handback", "cwd": "/src"}
    told: tuple[tuple[str, dict[str, str]], ...] = (
        ("tool.pre", {}),
        ("tool.permission", {"risk": "high"}),
        ("question", {"reason": "mango"}),
    )
    drafts = [
        Record(v=1, seq=0, core="", at=1, kind=kind, agent="claude", session="s", call=call,
               data={**asked, "tool": {"name": "Bash"}, **more}, hash="")
        for kind, more in told for call in ("a", "b", "c")
    ]  # fmt: skip
    journal = written(tmp_path / "journal.db", tuple(drafts))
    upkeep = Upkeep(journal)
    assert upkeep.round(lambda: False) == ""
    upkeep.close()
    for text in ("risk:high", "mango"):
        assert [row.call for row in calls(journal, text, 1)] == ["c", "b", "a"]


@pytest.mark.parametrize("text", [" withdrawn ", "no result ", " a rule", "nobo", " in codex"])
def test_words_that_no_record_holds_are_not_looked_for_in_the_index(text: str) -> None:
    """With the blanks around them that a line of the history has, and while they are typed."""
    assert call_conditions(parse(f'"{text}"'), VIEW.names) == []


def test_most_of_these_filters_are_answered_by_the_index() -> None:
    """Otherwise the tests above would only show how the journal is gone through."""
    read = [parse(text) for text in FILTERS]
    assert sum(map(bool, map(record_condition, read))) > len(read) * 0.6
    assert sum(bool(call_conditions(each, VIEW.names)) for each in read) > len(read) * 0.3
