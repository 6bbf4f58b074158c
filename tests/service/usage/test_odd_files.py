"""Whatever lies where transcripts should: it is counted as unreadable, and everything else read."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tests.service.usage.tiny import Desk, call, calls
from watchgate.service.usage import file_reading, text_files
from watchgate.service.usage.file_index import Unreadable

NOTHING = Unreadable()


@pytest.fixture
def short_lines(monkeypatch: pytest.MonkeyPatch) -> int:
    """Lines of more than 400 bytes are too long."""
    monkeypatch.setattr(file_reading, "LINE_BYTES", 400)
    monkeypatch.setattr(file_reading, "LINE_BYTES", 400)
    monkeypatch.setattr(file_reading, "SLICE_BYTES", 64)
    monkeypatch.setattr(file_reading, "_END_BYTES", 32)
    monkeypatch.setattr(file_reading, "_SEARCH_BYTES", 50)
    return 400


def test_no_file_and_no_folder(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "none")
    assert desk.tick() == {}
    assert desk.book.unreadable == NOTHING
    desk.file().write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}


def test_a_folder_with_the_name_of_a_file_is_a_folder(desk: Desk) -> None:
    desk.file("a.jsonl/b.jsonl").write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}
    assert desk.book.unreadable == NOTHING


def test_a_link_is_not_followed(desk: Desk, tmp_path: Path) -> None:
    other = tmp_path / "other.jsonl"
    other.write_bytes(calls("one"))
    desk.file().symlink_to(other)
    assert desk.tick() == {}
    assert desk.book.unreadable == Unreadable(files=1)
    desk.file().unlink()
    desk.tick()
    assert desk.book.unreadable == NOTHING


def test_folders_that_are_links_make_no_loop(desk: Desk) -> None:
    desk.file("below/a.jsonl").write_bytes(calls("one"))
    (desk.folder / "below" / "again").symlink_to(desk.folder)
    (desk.folder / "self").symlink_to("self")
    assert desk.tick() == {"one": 1}
    assert desk.book.unreadable == NOTHING


def test_a_home_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "agent").symlink_to("disk")
    desk = Desk(tmp_path / "agent")
    desk.file().write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}


def test_a_pipe_is_not_waited_for(desk: Desk) -> None:
    os.mkfifo(desk.file())
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(desk.file("b.jsonl")))
        assert desk.tick() == {}
        assert desk.book.unreadable == Unreadable(files=2)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read_is_read_once_it_may(desk: Desk) -> None:
    file, folder = desk.file(), desk.file("below/b.jsonl").parent
    file.write_bytes(calls("one"))
    file.chmod(0)
    desk.file("below/b.jsonl").write_bytes(calls("two"))
    folder.chmod(0)
    assert desk.tick() == {}
    assert desk.book.unreadable == Unreadable(files=2)
    file.chmod(0o600)
    folder.chmod(0o700)
    desk.tick()
    assert desk.tick()["one"] == 1


def test_a_file_of_another_user_is_not_read(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.file().write_bytes(calls("one"))
    nobody = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: nobody)
    assert desk.tick() == {}
    assert desk.book.unreadable == Unreadable(files=1)
    monkeypatch.undo()
    assert desk.tick() == {"one": 1}
    assert desk.book.unreadable == NOTHING


def test_a_file_that_is_gone_before_it_is_read(desk: Desk) -> None:
    desk.file().write_bytes(calls("one"))
    desk.book.look()
    desk.file().unlink()
    assert desk.book.refresh() == 0
    assert desk.book.unreadable == NOTHING


def test_an_empty_file(desk: Desk) -> None:
    desk.file().touch()
    desk.file("a.json").touch()
    assert desk.tick() == {}
    assert desk.book.unreadable == NOTHING


@pytest.mark.parametrize(
    "odd", [b"\0" * 100, bytes(range(256)), b'{"id": 1\xff}', b"{" * 5000, b"null", b"[1]"]
)
def test_a_line_that_is_none(desk: Desk, odd: bytes) -> None:
    lines = odd.replace(b"\n", b"")
    desk.file().write_bytes(calls("one") + lines + b"\n" + calls("two"))
    assert desk.tick() == {"one": 1, "two": 1}
    assert desk.book.unreadable == Unreadable(lines=1)


def test_names_that_are_no_text(desk: Desk) -> None:
    path = os.fsencode(desk.folder) + b"/odd-\xff.jsonl"
    Path(os.fsdecode(path)).write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}
    ((_agent, session),) = desk.ledger.changed()
    session.encode()  # what is told of it can be written


def test_many_files_in_one_folder(desk: Desk) -> None:
    for number in range(2000):
        desk.file(f"{number}.jsonl").write_bytes(calls(f"call-{number}"))
    assert len(desk.tick()) == 2000
    with desk.file("0.jsonl").open("ab") as file:
        file.write(calls("more"))
    # Of so many some are looked at each time.
    assert any("more" in desk.tick() for _ in range(6))


@pytest.mark.usefixtures("short_lines")
def test_a_line_longer_than_a_slice_is_read_whole(desk: Desk) -> None:
    wide = call("wide", pad="x" * 300)
    desk.file().write_bytes(calls("one") + wide + calls("two"))
    assert desk.tick() == {"one": 1, "wide": 1, "two": 1}


def test_a_line_that_is_too_long_is_passed_over(desk: Desk, short_lines: int) -> None:
    huge = call("huge", pad="x" * short_lines)
    desk.file().write_bytes(calls("one") + huge + calls("two"))
    assert desk.tick() == {"one": 1, "two": 1}
    assert desk.book.unreadable == Unreadable(lines=1)


def test_a_line_that_is_too_long_may_come_in_pieces(desk: Desk, short_lines: int) -> None:
    huge = call("huge", pad="x" * 3 * short_lines) + calls("two")
    file = desk.file()
    file.write_bytes(calls("one"))
    for start in range(0, len(huge), 130):
        with file.open("ab") as handle:
            handle.write(huge[start : start + 130])
        found = desk.tick()
    assert found == {"one": 1, "two": 1}
    assert desk.book.unreadable == Unreadable(lines=1)


def test_a_file_of_one_value_that_is_too_long(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("watchgate.service.usage.text_files.LINE_BYTES", 400)
    desk.file("a.json").write_bytes(call("huge", pad="x" * 400))
    assert desk.tick() == {}
    assert desk.book.unreadable == Unreadable(files=1)


def test_a_file_of_one_value_that_is_half_written_tells_what_it_told(desk: Desk) -> None:
    file = desk.file("a.json")
    file.write_bytes(call("one", 1))
    assert desk.tick() == {"one": 1}
    file.write_bytes(call("one", 22)[:-4])
    assert desk.tick() == {"one": 1}
    assert desk.book.unreadable == Unreadable(lines=1)
    file.write_bytes(call("one", 22))
    assert desk.tick() == {"one": 22}
    assert desk.book.unreadable == NOTHING


def test_it_may_shrink_between_the_look_and_the_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = desk.file()
    file.write_bytes(calls("one", "two"))

    def shrunk(descriptor: int, start: int, end: int) -> bytes:
        file.write_bytes(calls("one")[:5])
        return file_reading.whole_lines(descriptor, start, end)

    monkeypatch.setattr(text_files, "whole_lines", shrunk)
    assert desk.tick() == {}
    monkeypatch.undo()
    file.write_bytes(calls("three"))
    assert desk.tick() == {"three": 1}
    assert desk.book.unreadable == NOTHING


@pytest.mark.usefixtures("short_lines")
def test_a_hole_is_passed_over_however_large_it_is(desk: Desk) -> None:
    desk.file().write_bytes(calls("one"))
    os.truncate(desk.file(), 1 << 40)
    with desk.file().open("ab") as file:
        file.write(b"\n" + calls("two"))
    desk.file("b.jsonl").write_bytes(calls("three"))
    assert desk.tick() == {"one": 1, "two": 1, "three": 1}
    assert desk.book.unreadable == Unreadable(lines=1)


def test_the_name_of_a_session_is_no_longer_than_that_which_a_hook_tells(desk: Desk) -> None:
    desk.file().write_bytes(call("one", session="s" * 100_000))
    assert desk.tick() == {"one": 1}
    ((_, session),) = desk.ledger.changed()
    assert session == "s" * 512
    assert desk.book.of(("tiny", session)).unreadable == 0
