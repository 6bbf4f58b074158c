"""A transcript that a hook names is read first; a path that is wrong is found by its session."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.usage.tiny import AGENT, Desk, TinyReader, calls, told
from watchgate.agents.usage import UsagePlace
from watchgate.core.usage.ledger import Ledger
from watchgate.service.usage import usage_files as module
from watchgate.service.usage.file_index import Unreadable
from watchgate.service.usage.usage_files import UsageFiles

SESSION = "5f0c1d2e-0000-4000-8000-00000000000a"


def test_it_is_read_before_newer_ones(desk: Desk) -> None:
    for number in range(5):
        desk.file(f"{number}.jsonl").write_bytes(calls(f"call-{number}"))
    os.utime(desk.file("3.jsonl"), (1000, 1000))
    desk.book.look()
    desk.book.note(AGENT, SESSION, str(desk.file("3.jsonl")))
    desk.book.refresh(1)
    assert told(desk.ledger) == {"call-3": 1}


def test_it_need_not_be_found_before(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "elsewhere.jsonl"
    outside.write_bytes(calls("one"))
    desk.book.note(AGENT, SESSION, str(outside))
    desk.book.refresh()
    assert told(desk.ledger) == {"one": 1}
    with outside.open("ab") as file:
        file.write(calls("two"))
    assert desk.tick() == {"one": 1, "two": 1}


def test_one_that_is_found_later_is_read_once(desk: Desk) -> None:
    desk.file().write_bytes(calls("one"))
    desk.book.note(AGENT, SESSION, str(desk.file()))
    desk.book.refresh()
    readers = TinyReader.opened
    assert desk.tick() == {"one": 1}
    assert TinyReader.opened == readers


def test_a_path_through_a_link_is_the_same_file(desk: Desk, tmp_path: Path) -> None:
    desk.file().write_bytes(calls("one"))
    (tmp_path / "link").symlink_to(desk.folder)
    desk.tick()
    readers = TinyReader.opened
    desk.book.note(AGENT, SESSION, str(tmp_path / "link" / "a.jsonl"))
    assert desk.tick() == {"one": 1}
    assert TinyReader.opened == readers


@pytest.mark.parametrize("wrong", ["", "/none/of/these.jsonl", "a.jsonl", "/\0.jsonl", "/dev/null"])
def test_a_wrong_path_is_found_by_the_session(desk: Desk, wrong: str) -> None:
    file = desk.file(f"x/{SESSION}.jsonl")
    file.write_bytes(calls("one"))
    desk.file("b.jsonl").write_bytes(calls("two"))
    os.utime(file, (1000, 1000))
    desk.book.look()
    desk.book.note(AGENT, SESSION, wrong)
    desk.book.refresh(1)
    assert told(desk.ledger) == {"one": 1}


def test_a_session_that_is_not_there_yet_is_looked_for_everywhere(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watchgate.service.usage.file_scan.HOT", 1)
    monkeypatch.setattr("watchgate.service.usage.file_scan.ROUND", 1)
    monkeypatch.setattr(module, "ROUND", 1)
    for number in range(20):
        desk.file(f"{number}/a.jsonl").write_bytes(calls(f"call-{number}"))
    desk.tick()
    desk.file(f"17/{SESSION}.jsonl").write_bytes(calls("one"))
    desk.book.note(AGENT, SESSION, "/wrong")
    desk.book.refresh()
    assert "one" in desk.tick()


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "text"])
def test_only_a_regular_transcript_is_opened(desk: Desk, tmp_path: Path, kind: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_bytes(calls("one"))
    named = tmp_path / "named.jsonl"
    if kind == "link":
        named.symlink_to(secret)
    elif kind == "folder":
        named.mkdir()
    elif kind == "pipe":
        os.mkfifo(named)
    else:
        named = secret
    desk.book.note(AGENT, SESSION, str(named))
    assert desk.tick() == {}
    assert desk.book.unreadable == Unreadable()


def test_notes_of_an_agent_without_files_and_odd_sessions_are_passed_over(desk: Desk) -> None:
    desk.file().write_bytes(calls("one"))
    desk.book.note("unheard of", SESSION, str(desk.file()))
    desk.book.note(AGENT, "", "")
    desk.book.note(AGENT, "a", "")
    assert desk.tick() == {"one": 1}


def test_sub_agents_beside_a_transcript_in_another_folder(tmp_path: Path) -> None:
    ledger = Ledger(lambda _call: None, lambda _at_us: 0)
    home = UsagePlace(agent="claude", root=str(tmp_path / "home"), pattern="*/*.jsonl")
    book = UsageFiles([home], ledger, readers={"claude": TinyReader})
    transcript = tmp_path / "work" / f"{SESSION}.jsonl"
    side = tmp_path / "work" / SESSION / "subagents" / "workflows" / "w" / "agent-1.jsonl"
    side.parent.mkdir(parents=True)
    transcript.write_bytes(calls("one"))
    side.write_bytes(calls("two"))
    book.note("claude", SESSION, str(transcript))
    book.refresh()
    book.look()
    book.refresh()
    assert told(ledger) == {"one": 1, "two": 1}
