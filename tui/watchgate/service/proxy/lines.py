"""Cutting a byte stream into lines without losing or holding back a byte."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class Piece(msgspec.Struct, frozen=True):
    """Some bytes of the stream in their order.

    `whole` says that they are one line, which may be judged; else they are part of one that is too
    long for that, and `ends` says whether it ends with them.
    """

    data: bytes
    whole: bool = True
    ends: bool = True


class Lines:
    """Collects bytes up to a line's end; one over `limit_bytes` comes in pieces as it is read."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[Piece]:
        """Yields the complete lines, in order."""
        start = 0
        while (end := data.find(b"\n", start) + 1) > 0:
            yield self._line(data[start:end])
            start = end
        rest = data[start:]
        if self._too_long:
            if rest:
                yield Piece(rest, whole=False, ends=False)
            return
        self._pending += rest
        if len(self._pending) > self._limit_bytes:
            self._too_long = True
            yield Piece(self._take(), whole=False, ends=False)

    def rest(self) -> Iterator[Piece]:
        """Yields the bytes after the last line's end, when the stream is over."""
        if self._pending:
            yield Piece(self._take())
        elif self._too_long:
            yield Piece(b"", whole=False)
        self._too_long = False

    def _line(self, tail: bytes) -> Piece:
        if self._too_long:
            self._too_long = False
            return Piece(tail, whole=False)
        whole = self._take() + tail
        return Piece(whole, whole=len(whole) <= self._limit_bytes)

    def _take(self) -> bytes:
        taken = bytes(self._pending)
        self._pending.clear()
        return taken
