from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.runners.child import HeadTail, head_and_tail


@given(st.lists(st.binary(max_size=40)), st.integers(0, 60))
def test_both_ends_are_kept_and_everything_is_counted(pieces: list[bytes], cap: int) -> None:
    kept, whole = HeadTail(cap), b"".join(pieces)
    for piece in pieces:
        kept.add(piece)
    tail = cap // 2
    head = cap - tail
    fits = len(whole) <= cap
    assert kept.content() == (whole if fits else whole[:head] + whole[len(whole) - tail :])
    assert kept.size == len(whole)


def test_a_flood_does_not_grow() -> None:
    kept = HeadTail(1_000)
    for _ in range(1_000):
        kept.add(b"x" * 10_000)
    assert (len(kept.content()), kept.size) == (1_000, 10_000_000)


def test_a_short_text_is_shown_as_it_is() -> None:
    assert head_and_tail("grün\n".encode(), 6, 100) == "grün\n"


def test_bytes_that_are_no_text_are_shown_as_escapes() -> None:
    assert head_and_tail(b"a\xff\xfeb", 4, 100) == "a\\xff\\xfeb"


@given(st.text(min_size=150, max_size=400), st.integers(0, 10_000))
def test_a_long_one_is_shown_at_both_ends_within_the_limit(text: str, unkept: int) -> None:
    data = text.encode(errors="ignore")
    told = head_and_tail(data, len(data) + unkept, 120)
    assert len(told) <= 120
    if len(data) + unkept > 480:
        head, mark, tail = told.split("[")[0], "bytes left out", told.split("out]\n")[-1]
        assert mark in told
        assert text.startswith(head.rstrip("\n")) or "\n" in head
        assert tail in text


def test_what_is_left_out_is_counted() -> None:
    told = head_and_tail(b"a" * 1_000 + b"z" * 1_000, 5_000, 240)
    assert told == "a" * 100 + "\n[4,800 bytes left out]\n" + "z" * 100
