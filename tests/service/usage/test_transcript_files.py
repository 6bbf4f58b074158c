"""Which files are read, and how."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.usage import disk
from watchgate.agents.transcripts import TranscriptPlace
from watchgate.service.usage import transcript_files
from watchgate.service.usage.transcript_files import UnreadableError, read_pieces, read_whole


def place(root: Path) -> TranscriptPlace:
    return TranscriptPlace("claude", str(root), "*/*.jsonl", "lines")


def test_the_newest_are_first_and_those_of_before_are_left_out(tmp_path: Path) -> None:
    for name, at_s in (("a", 100), ("b", 300), ("c", 200)):
        path = disk.write(tmp_path / f"p/{name}.jsonl", {})
        os.utime(path, (at_s, at_s))
    found = transcript_files.transcript_files([place(tmp_path), place(tmp_path)], 150_000_000)
    assert [each.path.stem for each in found] == ["b", "c"]
    assert transcript_files.transcript_files([place(tmp_path / "no")], 0) == []


def test_whole_lines_come_in_pieces_with_the_last_one_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_files, "SLICE_BYTES", 4)
    path = tmp_path / "x"
    path.write_bytes(b"one\ntwo and three\n\nfo")
    told = list(read_pieces(path))
    assert b"".join(chunk for chunk, _ in told) == path.read_bytes()
    assert all(chunk.endswith(b"\n") for chunk, _ in told[:-1])


def test_a_line_that_is_too_long_is_passed_over_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_files, "SLICE_BYTES", 4)
    monkeypatch.setattr(transcript_files, "LINE_BYTES", 10)
    path = tmp_path / "x"
    path.write_bytes(b"one\n" + b"y" * 50 + b"\ntwo\n" + b"z" * 50)
    told = list(read_pieces(path))
    assert b"".join(chunk for chunk, _ in told).split() == [b"one", b"two"]
    assert sum(count for _, count in told) == 2
    with pytest.raises(UnreadableError):
        read_whole(path)


def test_what_is_no_file_of_ours_is_not_read_and_does_not_hold_us_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/etc/hostname")
    for name in ("pipe", "link", "gone"):
        with pytest.raises(UnreadableError):
            read_whole(tmp_path / name)


def test_a_hole_is_passed_over_however_large_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transcript_files, "SLICE_BYTES", 100_000)
    monkeypatch.setattr(transcript_files, "LINE_BYTES", 1_000_000)
    path = tmp_path / "x"
    path.write_bytes(b"one\n")
    os.truncate(path, 1 << 40)
    with path.open("ab") as file:
        file.write(b"\ntwo\n")
    told = list(read_pieces(path))
    assert b"".join(chunk for chunk, _ in told).split() == [b"one", b"two"]
    assert sum(count for _, count in told) == 1
