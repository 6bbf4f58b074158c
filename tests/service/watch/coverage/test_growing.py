"""A path from outside is read on, and never followed, waited for, or read without an end."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from watchgate.service.watch.coverage import ran_calls
from watchgate.service.watch.coverage.ran_calls import read_on


def test_only_whole_lines_are_read_and_the_rest_comes_later(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\ntwo\nthr")
    told, offset = read_on(str(file), 0)
    assert (told, offset) == (b"one\ntwo\n", 8)
    assert read_on(str(file), offset) == (b"", 8)
    with file.open("ab") as more:
        more.write(b"ee\n")
    assert read_on(str(file), offset) == (b"three\n", 14)


def test_a_file_that_is_shorter_now_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"new\n")
    assert read_on(str(file), 999) == (b"new\n", 4)


def test_what_is_longer_than_is_read_at_once_is_read_in_parts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ran_calls, "CHUNK_BYTES", 8)
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\ntwo\nthree\n")
    assert read_on(str(file), 0) == (b"one\ntwo\n", 8)
    assert read_on(str(file), 8) == (b"three\n", 14)
    file.write_bytes(b"x" * 40)
    assert read_on(str(file), 0) == (b"", 8)


def test_no_link_no_pipe_no_folder_and_nothing_that_is_not_there(tmp_path: Path) -> None:
    file = tmp_path / "real"
    file.write_bytes(b"secret\n")
    (tmp_path / "link").symlink_to(file)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ".", "missing", "odd\0name"):
        assert read_on(f"{tmp_path}/{name}", 0) == (b"", 0)
    assert read_on("/dev/zero", 0) == (b"", 0)


def test_a_file_of_another_user_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"theirs\n")
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert read_on(str(file), 0) == (b"", 0)
