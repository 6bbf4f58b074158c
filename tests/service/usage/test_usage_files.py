"""A book of usage follows files whatever their writers do to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.service.usage import tiny
from tests.service.usage.tiny import AGENT, Desk, TinyReader, call, calls
from watchgate.service.usage import file_reading
from watchgate.service.usage.file_index import Unreadable


def append(path: Path, content: bytes) -> None:
    with path.open("ab") as file:
        file.write(content)


def later(path: Path) -> None:
    """Lets the file's time of change move on, however coarse the disk's clock is."""
    about = path.stat()
    os.utime(path, ns=(about.st_atime_ns, about.st_mtime_ns + 5_000_000))


def test_what_is_added_is_read_and_nothing_twice(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    chunks: list[bytes] = []
    read = TinyReader.read

    def kept(reader: TinyReader, chunk: bytes) -> None:
        chunks.append(chunk)
        read(reader, chunk)

    monkeypatch.setattr(TinyReader, "read", kept)
    file = desk.file()
    file.write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}
    append(file, calls("two"))
    assert desk.tick() == {"one": 1, "two": 1}
    assert desk.tick() == {"one": 1, "two": 1}
    assert chunks == [calls("one"), calls("two")]


def test_a_line_counts_once_its_end_is_written(desk: Desk) -> None:
    file, line = desk.file(), call("two", 22)
    file.write_bytes(calls("one") + line[:-1])
    assert desk.tick() == {"one": 1}  # it would parse already, and may still go on
    append(file, line[-1:])
    assert desk.tick() == {"one": 1, "two": 22}
    assert desk.book.unreadable == Unreadable()


def test_a_file_that_is_shorter_is_read_anew(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(calls("one", "two", "three"))
    desk.tick()
    file.write_bytes(calls("four"))
    assert desk.tick() == {"four": 1}


def test_a_file_that_was_written_anew_and_is_longer_is_read_anew(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(calls("one"))
    desk.tick()
    file.write_bytes(calls("six", "seven", "eight"))
    assert desk.tick() == {"six": 1, "seven": 1, "eight": 1}


def test_a_file_that_was_written_in_place_is_read_anew(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(call("one", 1) + call("two", 2, pad="far from the first " * 9))
    desk.tick()
    with file.open("r+b") as handle:
        handle.write(call("one", 9))
    later(file)
    assert desk.tick() == {"one": 9, "two": 2}


def test_an_unfinished_line_may_be_taken_back(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(calls("one") + b'{"id": "lost')
    desk.tick()
    file.write_bytes(calls("one", "two"))
    assert desk.tick() == {"one": 1, "two": 1}
    assert desk.book.unreadable == Unreadable()


def test_another_file_in_its_place_is_read_anew(desk: Desk) -> None:
    file, other = desk.file(), desk.file("b.tmp")
    file.write_bytes(calls("one"))
    desk.tick()
    other.write_bytes(calls("one", "two"))
    other.rename(file)
    assert desk.tick() == {"one": 1, "two": 1}
    other.write_bytes(calls("three"))
    other.rename(file)
    assert desk.tick() == {"three": 1}


def test_calls_of_a_file_that_is_gone_stay(desk: Desk) -> None:
    file = desk.file("below/a.jsonl")
    file.write_bytes(calls("one"))
    desk.tick()
    file.unlink()
    file.parent.rmdir()
    assert desk.tick() == {"one": 1}
    assert desk.book.unreadable == Unreadable()
    desk.file("below/a.jsonl").write_bytes(calls("two"))
    assert desk.tick() == {"two": 1}  # the same name is the same file, written anew


def test_a_file_that_was_moved_goes_on(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(calls("one"))
    desk.tick()
    moved = desk.file("archived/a.jsonl")
    file.rename(moved)
    append(moved, calls("two"))
    readers = TinyReader.opened
    assert desk.tick() == {"one": 1, "two": 1}
    assert TinyReader.opened == readers
    moved.write_bytes(calls("three"))
    assert desk.tick() == {"three": 1}
    file.write_bytes(calls("four"))
    assert desk.tick() == {"three": 1, "four": 1}


def test_a_file_that_was_moved_over_another_one_is_told_once(desk: Desk) -> None:
    over, file = desk.file("a.jsonl"), desk.file("b.jsonl")
    over.write_bytes(calls("one"))
    file.write_bytes(calls("two"))
    desk.tick()
    file.rename(over)
    assert desk.tick() == {"two": 1}
    over.write_bytes(calls("three"))
    later(over)
    assert desk.tick() == {"three": 1}


def test_a_new_file_under_the_old_name_of_one_that_was_moved_is_read(desk: Desk) -> None:
    file, moved = desk.file(), desk.file("x/b.jsonl")
    file.write_bytes(calls("one"))
    desk.tick()
    file.rename(moved)
    file.write_bytes(calls("two"))
    assert desk.tick() == {"one": 1, "two": 1}
    append(file, calls("three"))
    append(moved, calls("four"))
    assert desk.tick() == {"one": 1, "two": 1, "three": 1, "four": 1}


def test_the_number_of_a_file_that_is_gone_may_be_another_files(desk: Desk) -> None:
    file, other = desk.file(), desk.file("b.jsonl")
    file.write_bytes(calls("one"))
    desk.tick()
    desk.tick()
    # As if the disk gave the number of the first to the second: the same file, other content.
    file.rename(other)
    other.write_bytes(calls("two", "three"))
    assert desk.tick() == {"one": 1, "two": 1, "three": 1}
    append(other, calls("four"))
    assert desk.tick() == {"one": 1, "two": 1, "three": 1, "four": 1}


def test_two_names_of_one_file_are_read_once(desk: Desk) -> None:
    file = desk.file()
    file.write_bytes(calls("one"))
    desk.tick()
    readers = TinyReader.opened
    desk.file("b.jsonl").hardlink_to(file)
    assert desk.tick() == {"one": 1}
    assert TinyReader.opened == readers


def test_reading_goes_on_where_the_limit_ended_it_newest_first(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_reading, "SLICE_BYTES", 64)
    monkeypatch.setattr(file_reading, "_END_BYTES", 32)
    for age, name in enumerate(("new", "old")):
        file = desk.file(f"{name}.jsonl")
        file.write_bytes(calls(*(f"{name}-{n:02d}" for n in range(10))))
        os.utime(file, (1000 - age, 1000 - age))
    size = file.stat().st_size
    desk.book.look()
    left = [desk.book.refresh(100)]
    assert set(tiny.told(desk.ledger)) < {f"new-{n:02d}" for n in range(10)}
    while left[-1]:
        left.append(desk.book.refresh(100))
    assert left == sorted(left, reverse=True)
    assert size < left[0] < 2 * size
    assert len(tiny.told(desk.ledger)) == 20


def test_old_files_wait_until_they_are_written_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, since_us=2_000_000_000)
    old, new = desk.file("old.jsonl"), desk.file("new.jsonl")
    old.write_bytes(calls("one"))
    new.write_bytes(calls("two"))
    os.utime(old, (1999, 1999))
    os.utime(new, (2000, 2000))
    assert desk.tick() == {"two": 1}
    append(old, calls("three"))
    assert desk.tick() == {"one": 1, "two": 1, "three": 1}


def test_what_the_files_of_a_session_tell_of_it(desk: Desk) -> None:
    first, second = desk.file("a.jsonl"), desk.file("b.jsonl")
    first.write_bytes(call("one", session="s", cwd="/src", context=10))
    second.write_bytes(call("two", session="s", context=20) + b"no JSON\n")
    os.utime(first, (1000, 1000))
    os.utime(second, (2000, 2000))
    desk.tick()
    facts = desk.book.of((AGENT, "s"))
    assert (facts.cwd, facts.context_used, facts.unreadable) == ("/src", 20, 1)
    assert desk.book.of((AGENT, "unheard of")).context_used is None
    append(first, call("three", context=30))
    later(first)
    os.utime(first, (3000, 3000))
    desk.tick()
    assert desk.book.of((AGENT, "s")).context_used == 30
