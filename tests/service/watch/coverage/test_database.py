"""OpenCode's database tells of the calls that have run, each once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from watchgate.service.watch.coverage.ran_calls import NEWEST_PARTS, OpenCodeDatabase

SINCE_US = 1_795_000_000_000_000
SINCE_MS = SINCE_US // 1_000


@pytest.fixture
def store(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    """A database with a session `s` and its sub-agent's `t`, in WAL mode as OpenCode's is."""
    with closing(sqlite3.connect(tmp_path / "opencode.db", isolation_level=None)) as store:
        store.execute("PRAGMA journal_mode = wal")
        store.execute("CREATE TABLE session (id TEXT, parent_id TEXT, directory TEXT)")
        store.execute(
            "CREATE TABLE part (id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER,"
            " time_updated INTEGER, data TEXT)"
        )
        store.execute("INSERT INTO session VALUES ('s', NULL, '/w'), ('t', 's', '/w')")
        yield store


def part(
    store: sqlite3.Connection,
    call_id: str,
    status: str,
    at_ms: int,
    session: str = "s",
    id: str = "",
) -> None:
    state = {"status": status, "input": {"command": "ls"}, "time": {"start": at_ms}}
    told = {"type": "tool", "tool": "bash", "callID": call_id, "state": state}
    data = json.dumps(told, separators=(",", ":"))
    row = (id or f"prt_{call_id}", session, at_ms, at_ms, data)
    store.execute("INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?)", row)


def test_a_call_has_run_once_its_part_is_completed(
    store: sqlite3.Connection, tmp_path: Path
) -> None:
    database = OpenCodeDatabase(str(tmp_path / "opencode.db"), SINCE_US)
    part(store, "old", "completed", SINCE_MS - 5)
    part(store, "c1", "running", SINCE_MS + 1)
    part(store, "denied", "error", SINCE_MS + 1)
    assert database.new_calls() == []
    part(store, "c1", "completed", SINCE_MS + 1)
    part(store, "c2", "completed", SINCE_MS + 2, session="t")
    told = [(each.session, each.tool.call_id, each.cwd) for each in database.new_calls()]
    assert sorted(told) == [("s", "c1", "/w"), ("s", "c2", "/w")]
    assert database.new_calls() == []
    part(store, "c1", "completed", SINCE_MS + 3, session="u", id="prt_other")
    assert [each.session for each in database.new_calls()] == ["u"], (
        "a gateway may only count its ids"
    )


def test_only_the_newest_parts_are_read(store: sqlite3.Connection, tmp_path: Path) -> None:
    database = OpenCodeDatabase(str(tmp_path / "opencode.db"), SINCE_US)
    for number in range(NEWEST_PARTS + 20):
        part(store, f"c{number}", "completed", SINCE_MS + number)
    assert len(database.new_calls()) == NEWEST_PARTS


@pytest.mark.parametrize("content", [b"", b"no database at all", None])
def test_what_is_no_database_tells_nothing(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "opencode.db"
    if content is not None:
        path.write_bytes(content)
    assert OpenCodeDatabase(str(path), SINCE_US).new_calls() == []
