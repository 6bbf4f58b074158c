from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.system.line_cutting import LineSplitter


def _all(splitter: LineSplitter, parts: list[bytes]) -> tuple[bytes, list[int]]:
    fed = [splitter.feed(part) for part in parts]
    return b"".join(whole for whole, _ in fed), [size for _, size in fed if size]


def test_lines_come_whole_however_they_are_cut() -> None:
    whole, dropped = _all(LineSplitter(100), [b'{"a"', b':1}\n{"b":2}\n{"c', b'":3}\n'])
    assert whole == b'{"a":1}\n{"b":2}\n{"c":3}\n'
    assert dropped == []


def test_a_line_over_the_limit_is_dropped_whole_and_the_next_one_is_kept() -> None:
    whole, dropped = _all(LineSplitter(10), [b"x" * 8, b"x" * 8, b"xx\nnext\n"])
    assert whole == b"next\n"
    assert dropped == [19]


def test_what_came_after_the_last_line_end_is_left() -> None:
    splitter = LineSplitter(100)
    splitter.feed(b"one\ntwo")
    assert splitter.rest() == b"two"


@given(st.lists(st.binary(max_size=8), max_size=30), st.integers(1, 9))
def test_cutting_never_changes_short_lines(lines: list[bytes], step: int) -> None:
    stream = b"".join(line.replace(b"\n", b"") + b"\n" for line in lines)
    parts = [stream[i : i + step] for i in range(0, len(stream), step)]
    whole, dropped = _all(LineSplitter(64), parts)
    assert whole == stream
    assert dropped == []
