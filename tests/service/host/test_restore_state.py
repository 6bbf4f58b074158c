"""What a core that starts knows of today, and what it says where it did not read all of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.scribe import Scribe
from tests.service.search.conftest import indexed
from watchgate.core.model.events import Tool
from watchgate.core.model.records import CallData, CoreData, Draft
from watchgate.core.state.state import DAY_US, State
from watchgate.service.host import restore_state
from watchgate.service.host.restore_state import restored_state
from watchgate.service.journal.writer import Journal

TODAY_US = 20_000 * DAY_US
NOW_US = TODAY_US + 3_600_000_000


def denied(at: int, number: int) -> Draft:
    data = CallData(
        native="PreToolUse",
        summary="git push",
        lane="gate",
        gate="denied",
        risk="low",
        cwd="/src/api",
        tool=Tool(name="Bash", native_name="Bash", cls="shell", input={}, input_hash="0"),
    )
    return Draft(kind="tool.pre", at=at, data=data, agent="claude", session="s", call=f"c{number}")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A call of yesterday, the gate switched off today, and twenty calls since."""
    opened = Journal.open(tmp_path / "journal.db")
    scribe = Scribe(opened)
    off = CoreData(what="gate off", until=0, name="ana")
    drafts = [
        denied(TODAY_US - 1, 0),
        Draft(kind="policy.off", at=TODAY_US, data=off),
        *(denied(TODAY_US + number, number) for number in range(1, 21)),
    ]
    for draft in drafts:
        opened.append(scribe.chain.seal(draft)[1])
    assert scribe.commit()
    opened.close()
    return tmp_path / "journal.db"


def state_of(journal: Path) -> State:
    faults: list[str] = []
    state = restored_state(journal, NOW_US, faults.append)
    assert faults == []
    return state


def test_a_quiet_day_is_known_whole(journal: Path) -> None:
    state = state_of(journal)
    assert (state.totals.denied_by_rule, state.totals.since) == (20, 0)
    assert len(state.rows) == 20
    assert state.gate.off_by == "ana"


@pytest.mark.parametrize("with_index", [True, False])
def test_of_a_busy_day_the_newest_are_known_and_how_the_gate_stands(
    journal: Path, monkeypatch: pytest.MonkeyPatch, with_index: bool
) -> None:
    if with_index:
        assert indexed(journal) == ""
    monkeypatch.setattr(restore_state, "FOLDED_RECORDS", 5)
    state = state_of(journal)
    assert (state.totals.denied_by_rule, state.totals.since) == (5, TODAY_US + 16)
    assert (state.gate.off_by, state.seq) == ("ana", 22)


def test_totals_begin_anew_with_the_next_day(
    journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restore_state, "FOLDED_RECORDS", 5)
    state = state_of(journal)
    opened = Journal.open(journal)
    record, _ = Scribe(opened).chain.seal(denied(TODAY_US + DAY_US, 99))
    opened.close()
    state.apply(record)
    assert (state.totals.denied_by_rule, state.totals.since) == (1, 0)


def test_an_empty_journal_makes_an_empty_state(tmp_path: Path) -> None:
    Journal.open(tmp_path / "journal.db").close()
    assert state_of(tmp_path / "journal.db").seq == 0
