"""A later start reads only what has changed, and never believes a cache that may be wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.service.usage.tiny import AGENT, Desk, TinyReader, call, calls
from watchgate.service.usage import usage_cache as module
from watchgate.service.usage.file_index import Unreadable


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "usage"


@pytest.fixture
def start(tmp_path: Path, cache: Path) -> Callable[..., Desk]:
    (tmp_path / "agent").mkdir()
    return lambda **options: Desk(tmp_path / "agent", cache=cache, **options)


def read_by(desk: Desk) -> tuple[dict[str, int], int]:
    """What is counted, and how many files were read for it."""
    before = TinyReader.opened
    return desk.tick(), TinyReader.opened - before


def test_what_was_read_is_not_read_again(start: Callable[..., Desk], cache: Path) -> None:
    desk = start()
    desk.file("x/a.jsonl").write_bytes(
        call("one", 1, session="s", cwd="/src", context=5) + b"no JSON\n"
    )
    desk.file("x/b.jsonl").write_bytes(calls("two"))
    desk.file("c.json").write_bytes(call("three"))
    counted = desk.tick()
    assert counted == {"one": 1, "two": 1, "three": 1}
    desk.book.save()
    assert cache.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o777 for path in cache.iterdir()} == {0o600}
    desk = start()
    assert read_by(desk) == (counted, 0)
    facts = desk.book.of((AGENT, "s"))
    assert (facts.cwd, facts.context_used, facts.unreadable) == ("/src", 5, 1)
    assert desk.book.unreadable == Unreadable(lines=1)
    assert desk.ledger.changed() == {(AGENT, "s"), (AGENT, "b"), (AGENT, "c")}


def test_a_file_that_has_changed_is_read_and_the_others_are_not(start: Callable[..., Desk]) -> None:
    desk = start()
    for name in "abc":
        desk.file(f"{name}.jsonl").write_bytes(calls(name))
    desk.tick()
    desk.book.save()
    with desk.file("a.jsonl").open("ab") as file:
        file.write(calls("more"))
    desk.file("d.jsonl").write_bytes(calls("d"))
    everything = {"a": 1, "b": 1, "c": 1, "d": 1, "more": 1}
    desk = start()
    assert read_by(desk) == (everything, 2)
    desk.book.save()
    assert read_by(start()) == (everything, 0)


def test_a_file_out_of_the_cache_is_followed_on(start: Callable[..., Desk]) -> None:
    desk = start()
    desk.file().write_bytes(calls("one"))
    desk.tick()
    desk.book.save()
    desk = start()
    desk.tick()
    with desk.file().open("ab") as file:
        file.write(calls("two") + b'{"id": "to')
    assert desk.tick() == {"one": 1, "two": 1}
    with desk.file().open("ab") as file:
        file.write(b'rn", "out": 1}\n')
    assert read_by(desk) == ({"one": 1, "two": 1, "torn": 1}, 0)
    desk.book.save()
    assert read_by(start()) == ({"one": 1, "two": 1, "torn": 1}, 0)


def test_an_unfinished_line_is_not_lost(start: Callable[..., Desk]) -> None:
    desk = start()
    desk.file().write_bytes(calls("one") + call("two")[:-1])
    desk.tick()
    desk.book.save()
    with desk.file().open("ab") as file:
        file.write(b"\n")
    assert start().tick() == {"one": 1, "two": 1}


def test_a_file_that_is_gone_is_not_counted(start: Callable[..., Desk]) -> None:
    desk = start()
    desk.file().write_bytes(calls("one"))
    desk.file("b.jsonl").write_bytes(calls("two"))
    desk.tick()
    desk.book.save()
    desk.file().unlink()
    assert start().tick() == {"two": 1}


def test_a_file_that_is_only_partly_read_is_not_kept(
    start: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("watchgate.service.usage.file_reading.SLICE_BYTES", 30)
    monkeypatch.setattr("watchgate.service.usage.file_reading._END_BYTES", 10)
    desk = start()
    desk.file().write_bytes(calls("one", "two", "three"))
    desk.book.look()
    assert desk.book.refresh(1) > 0
    desk.book.save()
    assert read_by(start()) == ({"one": 1, "two": 1, "three": 1}, 1)


def test_what_old_files_told_is_kept_by_a_start_that_does_not_read_them(
    start: Callable[..., Desk],
) -> None:
    desk = start()
    for name, at in (("old", 1000), ("new", 3000)):
        desk.file(f"{name}.jsonl").write_bytes(calls(name))
        os.utime(desk.file(f"{name}.jsonl"), (at, at))
    desk.tick()
    desk.book.save()
    desk.file("newer.jsonl").write_bytes(calls("newer"))
    desk = start(since_us=2_000_000_000)
    assert desk.tick() == {"new": 1, "newer": 1}
    desk.book.save()
    assert read_by(start()) == ({"old": 1, "new": 1, "newer": 1}, 0)


def flipped(content: bytes) -> bytes:
    at = content.index(b"one")
    return content[:at] + b"oNe" + content[at + 3 :]


@pytest.mark.parametrize(
    "broken",
    [
        lambda _content: b"",
        lambda content: content[:-1],
        lambda content: b"\0" * len(content),
        flipped,
        lambda content: module._sum(b"\xc1") + b"\xc1",
        lambda content: module._sum(b"\x90") + b"\x90",
    ],
)
def test_a_cache_that_is_broken_is_as_good_as_none(
    start: Callable[..., Desk], cache: Path, broken: Callable[[bytes], bytes]
) -> None:
    desk = start()
    desk.file().write_bytes(calls("one"))
    desk.tick()
    desk.book.save()
    (pack,) = cache.iterdir()
    pack.write_bytes(broken(pack.read_bytes()))
    desk = start()
    assert read_by(desk) == ({"one": 1}, 1)
    desk.book.save()
    assert read_by(start()) == ({"one": 1}, 0)


def test_a_cache_of_other_readers_is_not_believed(
    start: Callable[..., Desk], monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = start()
    desk.file().write_bytes(calls("one"))
    desk.tick()
    desk.book.save()
    monkeypatch.setattr(module, "_version", lambda: b"another")
    assert read_by(start()) == ({"one": 1}, 1)


def test_a_cache_that_others_could_have_written_is_not_believed(
    start: Callable[..., Desk], cache: Path
) -> None:
    desk = start()
    desk.file().write_bytes(calls("one"))
    desk.tick()
    desk.book.save()
    (pack,) = cache.iterdir()
    pack.chmod(0o620)
    assert read_by(start()) == ({"one": 1}, 1)


def test_a_cache_that_cannot_be_written_changes_nothing(
    start: Callable[..., Desk], cache: Path
) -> None:
    cache.parent.mkdir()
    cache.write_text("a file where the folder should be")
    desk = start()
    desk.file().write_bytes(calls("one"))
    assert desk.tick() == {"one": 1}
    desk.book.save()
    assert cache.read_text() == "a file where the folder should be"


def test_names_that_are_no_text(start: Callable[..., Desk], tmp_path: Path) -> None:
    desk = start()
    odd = os.fsencode(tmp_path / "agent") + b"/odd-\xff"
    os.mkdir(odd)  # noqa: PTH102 - a name of bytes
    Path(os.fsdecode(odd + b"/\xfe.jsonl")).write_bytes(calls("one"))
    desk.tick()
    desk.book.save()
    assert read_by(start()) == ({"one": 1}, 0)
