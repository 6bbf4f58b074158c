"""One look over the transcripts of a disk."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.service.usage import disk
from watchgate.agents.transcripts import transcript_places
from watchgate.core.lookback.lookback_fold import Lookback
from watchgate.core.lookback.lookback_report import LookbackReport
from watchgate.core.lookback.transcript_judge import TranscriptJudge
from watchgate.service.policies.policy_files import shipped
from watchgate.service.usage.transcript_look import TranscriptLook

SINCE_US = disk.NOON_US - 30 * disk.DAY_US


class Looked:
    def __init__(self, home: Path) -> None:
        judge = TranscriptJudge(shipped(), home=str(home), own=(), now_us=disk.NOON_US)
        self.fold = Lookback(
            judge, since_us=SINCE_US, now_us=disk.NOON_US, day_of=lambda at: at // disk.DAY_US
        )
        self.look = TranscriptLook(transcript_places({}, str(home)), self.fold, since_us=SINCE_US)

    def run(self) -> LookbackReport:
        self.look.run()
        return self.fold.report()

    @property
    def unreadable(self) -> tuple[int, int]:
        return self.look.unreadable_files, self.look.unreadable_lines


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    found = {}
    for path in sorted(folder.rglob("*")):
        about = path.lstat()
        data = path.read_bytes() if path.is_file() else b""
        found[str(path)] = (about.st_mode, about.st_mtime_ns, data)
    return found


def test_the_calls_of_every_agent_are_found_and_nothing_is_touched(tmp_path: Path) -> None:
    disk.every_agent(tmp_path)
    before = tree(tmp_path)
    looked = Looked(tmp_path)
    found = looked.run()
    assert {each.agent: each.calls for each in found.agents} == {
        "claude": 3,
        "codex": 1,
        "gemini": 1,
        "opencode": 1,
        "qwen": 1,
    }
    assert (found.by_subs, looked.unreadable) == (1, (0, 0))
    gemini = next(each for each in found.grave if each.agent == "gemini")
    assert (gemini.risk, gemini.text, gemini.cwd) == ("critical", disk.WIPE, "/srv/app")
    assert tree(tmp_path) == before


def test_the_same_call_in_a_resumed_session_counts_once(tmp_path: Path) -> None:
    line = disk.claude_line(disk.PUSH)
    disk.write(tmp_path / ".claude/projects/p/a.jsonl", line)
    disk.write(tmp_path / ".claude/projects/p/b.jsonl", {**line, "sessionId": "b"})
    assert Looked(tmp_path).run().calls == 1


def test_torn_lines_and_unreadable_files_are_counted(tmp_path: Path) -> None:
    projects = tmp_path / ".claude/projects/p"
    disk.write(projects / "a.jsonl", disk.claude_line("ls"), end='\n{"type": "assi')
    (projects / "b.jsonl").symlink_to(projects / "a.jsonl")
    (tmp_path / ".local/share/opencode").mkdir(parents=True)
    (tmp_path / ".local/share/opencode/opencode.db").write_bytes(b"no database at all, not one")
    looked = Looked(tmp_path)
    assert (looked.run().calls, looked.unreadable) == (1, (2, 1))


def test_a_database_that_is_in_use_is_read_as_it_is_now(tmp_path: Path) -> None:
    path = disk.opencode_database(tmp_path / "made/opencode.db", disk.opencode_part("ls"))
    home = tmp_path / "home"
    with closing(sqlite3.connect(path)) as running:
        part = json.dumps(disk.opencode_part("make", "toolu_05abcdefghijklmnop"))
        row = (disk.NOON_US // 1_000,) * 2 + (part,)
        running.execute("INSERT INTO part VALUES ('p9', 'm', 'ses_2', ?, ?, ?)", row)
        running.commit()
        # A copy, since SQLite shares its memory among the connections of one process.
        shutil.copytree(path.parent, home / ".local/share/opencode")
    before = tree(home)
    assert len(before) == 6
    found = Looked(home).run()
    assert (found.calls, found.by_subs, found.sessions) == (2, 1, 1)
    assert tree(home) == before


def test_odd_rows_of_a_database_are_passed_over(tmp_path: Path) -> None:
    path = tmp_path / ".local/share/opencode/opencode.db"
    disk.opencode_database(
        path, disk.opencode_part("ls"), '{"type": "tool", "tool"', "{}", wal=False
    )
    looked = Looked(tmp_path)
    assert (looked.run().calls, looked.unreadable) == (1, (0, 1))


def test_a_database_that_is_a_program_is_not_run(tmp_path: Path) -> None:
    path = tmp_path / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            "CREATE TABLE session (id, parent_id, directory);"
            "CREATE VIEW part AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) "
            "SELECT n session_id, n time_created, 0 time_updated, NULL data FROM c"
        )
    looked = Looked(tmp_path)
    assert (looked.run().calls, looked.unreadable) == (0, (1, 0))


def test_the_older_files_of_opencode(tmp_path: Path) -> None:
    storage = tmp_path / ".local/share/opencode/storage"
    disk.write(storage / "session/x/ses_9.json", {"id": "ses_9", "directory": "/srv/app"})
    part = {**disk.opencode_part("git stash clear"), "sessionID": "ses_9"}
    disk.write(storage / "part/msg_1/prt_1.json", part)
    (grave,) = Looked(tmp_path).run().grave
    assert (grave.agent, grave.cwd) == ("opencode", "/srv/app")


def test_a_look_that_is_stopped_keeps_what_it_has_found(tmp_path: Path) -> None:
    disk.every_agent(tmp_path)
    looked = Looked(tmp_path)

    def stop(files: int, _calls: int) -> None:
        if files == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        looked.look.run(stop)
    assert looked.look.read == 3
    assert 0 < looked.fold.report().calls < 7
