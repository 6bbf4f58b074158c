"""No byte is lost, added or reordered, whatever the chunks; only short lines are judged."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from watchgate.service.system.line_cutting import LineCutter, LinePiece

CHUNKS = st.lists(st.binary(max_size=40) | st.just(b"\n") | st.just(b"{}\n"), max_size=30)


def pieces(chunks: list[bytes], limit_bytes: int) -> list[LinePiece]:
    lines = LineCutter(limit_bytes)
    return [*(piece for chunk in chunks for piece in lines.feed(chunk)), *lines.rest()]


@given(CHUNKS, st.integers(1, 30))
def test_the_pieces_are_the_stream(chunks: list[bytes], limit_bytes: int) -> None:
    assert b"".join(piece.data for piece in pieces(chunks, limit_bytes)) == b"".join(chunks)


@given(CHUNKS, st.integers(1, 30))
def test_a_whole_piece_is_one_line_within_the_limit(chunks: list[bytes], limit_bytes: int) -> None:
    short = {line for line in b"".join(chunks).split(b"\n") if len(line) < limit_bytes}
    for piece in pieces(chunks, limit_bytes):
        if piece.whole:
            assert len(piece.data) <= limit_bytes
            assert piece.data.rstrip(b"\n") in short or len(piece.data) == limit_bytes
            assert b"\n" not in piece.data[:-1]


def test_a_long_line_is_never_kept_whole() -> None:
    lines = LineCutter(10)
    seen = [list(lines.feed(b"x" * 8)) for _ in range(4)]
    assert seen == [
        [],
        [LinePiece(b"x" * 16, whole=False, ends=False)],
        *[[LinePiece(b"x" * 8, whole=False, ends=False)]] * 2,
    ]
    assert list(lines.feed(b"y\n{}\n")) == [LinePiece(b"y\n", whole=False), LinePiece(b"{}\n")]
