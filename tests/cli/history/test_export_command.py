"""`export`: what was recorded is written out as JSON lines, or a session as a page."""

from __future__ import annotations

import os
import socket
import sqlite3
import stat
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.service.history.test_recorded_sessions import journal_of
from watchgate.cli.base.printing import Exit, Stop
from watchgate.link.paths import paths
from watchgate.service.journal.verification import read_export

Held = Callable[..., dict[str, Any]]
Asked = Callable[..., tuple[dict[str, Any], socket.socket]]


@pytest.fixture
def journal(state_dir: Path) -> Path:
    """A journal that an earlier core has left."""
    state_dir.mkdir(parents=True, mode=0o700)
    return journal_of(
        paths(os.environ).journal,
        ("claude", "s1", "/srv/app"),
        ("codex", "s2", "/srv/site"),
        (None, None, ""),
        ("claude", "s1", "/srv/app"),
    )


def test_lines_are_those_of_search_with_the_oldest_first(cli: Cli, held: Held) -> None:
    held("git push --force")
    lines = cli("export", "kind:tool.*").lines
    assert lines
    assert lines == cli("search", "kind:tool.*", "--json").lines[::-1]


def test_a_running_core_writes_out_first_what_waits(cli: Cli, held: Held) -> None:
    request = held("git push --force")
    cli("deny", request["id"])
    found = cli("export", f"request:{request['id']}").lines
    assert [line["kind"] for line in found][-1] in ("approval.decided", "effect.sent")


def test_without_a_core_the_journal_is_read(cli: Cli, journal: Path) -> None:
    said = cli("export")
    assert (said.code, said.err) == (Exit.DONE, "")
    assert [line["seq"] for line in said.lines] == [1, 2, 3, 4]
    assert [line["seq"] for line in cli("export", "--session", "app").lines] == [1, 4]
    assert [line["seq"] for line in cli("export", "agent:codex").lines] == [2]
    assert [line["seq"] for line in cli("export", "--session", "s1", "agent:codex").lines] == []


def test_times_bound_what_is_written(cli: Cli, journal: Path) -> None:
    # Its records were made in the first seconds of 1970.
    assert cli("export", "--since", "1970-01-01T00:00").code == Exit.DONE
    for words in (("--since", "1h"), ("since:1h",)):
        said = cli("export", *words)
        assert (said.code, said.out) == (Exit.REFUSED, "")
        assert "nothing that was recorded matches" in said.err


def test_a_file_is_read_back_as_it_was_written(cli: Cli, journal: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    said = cli("export", "-o", str(path))
    assert said.out == f"4 records written to {path}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [record.seq for record in read_export(path)] == [1, 2, 3, 4]
    assert path.read_text() == cli("export").out


def test_a_file_that_is_there_stays_without_force(cli: Cli, journal: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("mine")
    said = cli("export", "-o", str(path))
    assert said.code == Exit.REFUSED
    assert "--force" in said.err
    assert path.read_text() == "mine"
    assert cli("export", "-o", str(path), "--force").code == Exit.DONE
    assert len(read_export(path)) == 4


def test_nothing_found_makes_no_file(cli: Cli, journal: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert cli("export", "agent:gemini", "-o", str(path)).code == Exit.REFUSED
    assert not path.exists()


def test_a_page_tells_of_a_session(cli: Cli, held: Held, tmp_path: Path) -> None:
    request = held("git push --force origin main")
    cli("deny", request["id"], "--as", "kim")
    held("git reset --hard", "c2")
    path = tmp_path / "a.html"
    said = cli("export", "--html", "-o", str(path))
    assert said.out == f"session app written to {path}\n"
    page = path.read_text()
    for words in (
        "<h1>", "git push --force origin main", "x denied", "operator kim", "? pending",
        "git reset --hard", "unbroken from record 1 to record ", "Overwrites",
    ):  # fmt: skip
        assert words in page, words
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_edits_stand_on_the_page_as_on_the_screen(cli: Cli, asked: Asked) -> None:
    asked("Edit", {"file_path": "/etc/hosts", "old_string": "one", "new_string": "two"})
    page = cli("export", "--html").out
    assert '<span class="del">- one' in page
    assert '<span class="add">+ two' in page


def test_a_page_of_an_old_session_is_made_without_a_core(cli: Cli, journal: Path) -> None:
    page = cli("export", "--html", "--session", "site").out
    assert page.startswith("<!DOCTYPE html>")
    assert "site - codex - watchgate" in page


def test_the_newest_session_is_meant_where_none_is_named(cli: Cli, journal: Path) -> None:
    assert "app - claude - watchgate" in cli("export", "--html").out


def test_a_journal_that_was_changed_is_told_on_the_page(cli: Cli, journal: Path) -> None:
    with closing(sqlite3.connect(journal)) as connection, connection:
        connection.execute("UPDATE record SET agent = 'gemini' WHERE seq = 2")
    assert "The journal is not sound: record 2" in cli("export", "--html").out


def test_a_page_is_not_poured_into_a_terminal(
    cli: Cli, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    said = cli("export", "--html")
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "-o FILE" in said.err


def test_a_core_that_writes_nothing_out_is_told_and_the_rest_is_written(
    cli: Cli, journal: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_request: object) -> None:
        raise Stop("the journal found no space on its disk")

    monkeypatch.setattr("watchgate.cli.history.recorded.ask", refuse)
    said = cli("export")
    assert (said.code, len(said.lines)) == (Exit.DONE, 4)
    assert "the newest records may be missing" in said.err
    assert "found no space" in said.err


@pytest.mark.parametrize("words", [("agent:claude",), ("--since", "1h")])
def test_a_page_of_a_part_is_refused(cli: Cli, journal: Path, words: tuple[str, ...]) -> None:
    said = cli("export", "--html", *words)
    assert (said.code, said.out) == (Exit.USAGE, "")
    assert "a page tells the whole of a session" in said.err


def test_a_session_that_is_none_is_refused_with_what_to_write(cli: Cli, journal: Path) -> None:
    said = cli("export", "--session", "nobody")
    assert (said.code, said.out) == (Exit.REFUSED, "")
    assert "no recorded session is 'nobody': give its id" in said.err


def test_without_a_core_and_a_journal_it_exits_3(cli: Cli) -> None:
    said = cli("export")
    assert said.code == Exit.NO_CORE
    assert "nothing was recorded yet" in said.err


def test_a_fault_in_the_filter_exits_2(cli: Cli, journal: Path) -> None:
    assert cli("export", "risk:hgih").code == Exit.USAGE
