"""A core that starts knows what the sessions of the last month cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.service.scribe import Scribe, committed
from watchgate.core.base.clock import Instant
from watchgate.core.model.records import Draft, NoteData, UsageData
from watchgate.core.state.state import State
from watchgate.core.usage.session_usage import MAX_DAYS, NANO
from watchgate.core.usage.usage_fold import DAY_US
from watchgate.service.host.restore_state import remember_usage, usage_of
from watchgate.service.journal.recorder import Recorder
from watchgate.service.journal.writer import Journal
from watchgate.service.system.system_clock import FakeClock

NOW_US = 20_000 * DAY_US + 12 * 3_600 * 1_000_000
TODAY = 20_000


def draft(kind: str, days_ago: float, data: Any) -> Draft:
    at = round(NOW_US - days_ago * DAY_US)
    return Draft(kind=kind, at=at, data=data, agent="claude", session="s1")


def spent(days_ago: float, usd: float) -> Draft:
    return draft("usage", days_ago, UsageData(native="StatusLine", total_cost_usd=usd))


def write(path: Path, *drafts: Draft) -> None:
    journal = Journal.open(path)
    scribe = Scribe(journal)
    for each in drafts:
        journal.append(scribe.chain.seal(each)[1])
    assert committed(journal)
    assert journal.close() == 0


DRAFTS = (
    spent(MAX_DAYS + 9, 9.0),
    draft("session.start", 9, NoteData(native="SessionStart", cwd="/src/api")),
    spent(9, 1.0),
    draft("notice", 4, NoteData(native="n")),
    spent(2, 1.5),
)


def test_sessions_and_days_of_the_last_month(tmp_path: Path) -> None:
    write(tmp_path / "journal.db", *DRAFTS)

    usage = usage_of(tmp_path / "journal.db", NOW_US, len(DRAFTS)).usage

    assert {each.day: each.cost for each in usage.spent} == {TODAY - 9: NANO, TODAY - 2: NANO // 2}
    assert [each.label for each in usage.sessions.values()] == ["api"]
    assert usage.ran == (TODAY - 9, TODAY - 4, TODAY - 2)


def test_what_a_later_core_wrote_is_not_counted_here(tmp_path: Path) -> None:
    write(tmp_path / "journal.db", *DRAFTS)

    usage = usage_of(tmp_path / "journal.db", NOW_US, len(DRAFTS) - 1).usage

    assert [each.cost for each in usage.spent] == [NANO]


@pytest.mark.anyio
async def test_a_starting_core_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"
    write(path, *DRAFTS)
    journal = Journal.open(path)
    clock = FakeClock(Instant(NOW_US, 0.0))
    state = State()
    state.seq = journal.head.seq
    recorder = Recorder(Scribe(journal).chain, journal, state, clock)

    async with anyio.create_task_group() as tasks:
        await tasks.start(remember_usage, recorder, path, clock)
    recorder.record(spent(0, 1.75))

    (session,) = state.usage.sessions.values()
    assert session.cost == 7 * NANO // 4
    assert session.since(TODAY)[0] == NANO // 4
    assert not recorder.watchers
    journal.close()


@pytest.mark.anyio
async def test_a_journal_that_is_not_there_changes_nothing(tmp_path: Path) -> None:
    journal = Journal.open(tmp_path / "journal.db")
    clock = FakeClock(Instant(NOW_US, 0.0))
    recorder = Recorder(Scribe(journal).chain, journal, State(), clock)

    async with anyio.create_task_group() as tasks:
        await tasks.start(remember_usage, recorder, tmp_path / "none.db", clock)

    assert recorder.state.usage.ran == ()
    journal.close()
