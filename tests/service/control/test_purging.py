"""The verb that drops what was recorded of a session."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.control.counter import AGENT, TERMINAL, Counter
from tests.service.past import Past
from watchgate.service.control import operator_verbs
from watchgate.service.system.process_table import Proc


@pytest.fixture
def counter(runtime_dir: Path) -> Counter:
    """A counter over a journal with two records of session `s1` and one of `s2`."""
    counter = Counter(runtime_dir)
    counter.desk.paper.at_once = True
    counter.desk.paper.path = runtime_dir / "journal.db"
    past = Past()
    for session in ("s1", "s2", "s1"):
        past.note(session)
    past.written(runtime_dir / "journal.db")
    return counter


@pytest.fixture
def reader(runtime_dir: Path) -> Iterator[sqlite3.Connection]:
    """Somebody in the middle of reading the journal."""
    with closing(sqlite3.connect(runtime_dir / "journal.db")) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT * FROM record").fetchone()
        yield connection


async def test_a_purge_is_recorded_with_what_it_drops_and_who_asked(counter: Counter) -> None:
    answer = await counter.ok("purge", agent="claude", session="s1", as_="kim")
    assert answer == {"records": 2, "upto": 3, "emptied": True}
    record = counter.desk.console.records[-1]
    assert (record.kind, record.agent, record.session) == ("policy.purged", None, None)
    assert record.data["by"].startswith("operator kim (")
    assert counter.desk.paper.purged == [1, 3]
    assert counter.forgot == ["the index"]


async def test_a_purge_brings_no_session_back_to_the_screen(counter: Counter) -> None:
    await counter.ok("purge", agent="claude", session="s1")
    assert (await counter.ok("list", what="sessions"))["sessions"] == []


async def test_where_nothing_is_left_the_index_is_made_anew_all_the_same(
    counter: Counter, runtime_dir: Path
) -> None:
    with closing(sqlite3.connect(runtime_dir / "journal.db")) as connection, connection:
        connection.execute("UPDATE record SET data = NULL WHERE session = 's1'")
    answer = await counter.ok("purge", agent="claude", session="s1")
    assert answer == {"records": 0, "upto": 0, "emptied": True}
    assert "policy.purged" not in counter.desk.kinds()
    assert counter.forgot == ["the index"]


async def test_a_session_that_nobody_recorded_is_unknown(counter: Counter) -> None:
    for agent, session in (("claude", "s3"), ("codex", "s1")):
        refusal = await counter.refused("purge", agent=agent, session=session)
        assert refusal.refused == "unknown_id"
    for agent, session in (("claude", ""), ("", "s1")):
        refusal = await counter.refused("purge", agent=agent, session=session)
        assert refusal.refused == "bad_request"
    assert (counter.desk.paper.purged, counter.forgot) == ([], [])


async def test_what_runs_below_an_agent_takes_no_evidence_away(counter: Counter) -> None:
    counter.desk.agents[7] = AGENT
    counter.desk.send("low")
    below = counter.caller(Proc(60, "600", "watchgate"), AGENT, TERMINAL)
    for caller in (below, counter.caller()):
        refusal = await counter.refused("purge", caller, agent="claude", session="s1")
        assert refusal.refused == "self_approval"
    assert (counter.desk.paper.purged, counter.forgot) == ([], [])


async def test_a_lost_journal_drops_nothing(counter: Counter) -> None:
    counter.desk.paper.lost = "no space"
    refusal = await counter.refused("purge", agent="claude", session="s1")
    assert (refusal.refused, counter.desk.paper.purged) == ("failed", [])
    assert "nothing was dropped: no space" in refusal.message


async def test_a_purge_that_is_not_on_the_disk_yet_says_so(
    counter: Counter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counter.desk.paper, "commit", lambda callback: callback(False))
    refusal = await counter.refused("purge", agent="claude", session="s1")
    assert refusal.refused == "failed"
    assert "the data are dropped once it can" in refusal.message


async def test_a_reader_keeps_the_log_and_the_answer_says_so(
    counter: Counter,
    reader: sqlite3.Connection,
    runtime_dir: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with closing(sqlite3.connect(runtime_dir / "journal.db")) as connection, connection:
        connection.execute("UPDATE record SET data = NULL WHERE seq = 2")
    monkeypatch.setattr(operator_verbs, "LOG_TRY_S", 0)
    assert (await counter.ok("purge", agent="claude", session="s1"))["emptied"] is False
    reader.rollback()
    assert (await counter.ok("purge", agent="claude", session="s1"))["emptied"] is True
