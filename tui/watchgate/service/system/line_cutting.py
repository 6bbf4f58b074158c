"""Cutting a byte stream into whole lines, with a limit on how long one line may be.

- Cutting a byte stream into lines without losing or holding back a byte.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec


class LinePiece(msgspec.Struct, frozen=True):
    """Some bytes of the stream in their order.

    `whole` says that they are one line, which may be judged; else they are part of one that is too
    long for that, and `ends` says whether it ends with them.
    """

    data: bytes
    whole: bool = True
    ends: bool = True


class LineCutter:
    """Collects bytes up to a line's end; one over `limit_bytes` comes in pieces as it is read."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._too_long = False

    def feed(self, data: bytes) -> Iterator[LinePiece]:
        """Yields the complete lines, in order."""
        start = 0
        while (end := data.find(b"\n", start) + 1) > 0:
            yield self._line(data[start:end])
            start = end
        rest = data[start:]
        if self._too_long:
            if rest:
                yield LinePiece(rest, whole=False, ends=False)
            return
        self._pending += rest
        if len(self._pending) > self._limit_bytes:
            self._too_long = True
            yield LinePiece(self._take(), whole=False, ends=False)

    def rest(self) -> Iterator[LinePiece]:
        """Yields the bytes after the last line's end, when the stream is over."""
        if self._pending:
            yield LinePiece(self._take())
        elif self._too_long:
            yield LinePiece(b"", whole=False)
        self._too_long = False

    def _line(self, tail: bytes) -> LinePiece:
        if self._too_long:
            self._too_long = False
            return LinePiece(tail, whole=False)
        whole = self._take() + tail
        return LinePiece(whole, whole=len(whole) <= self._limit_bytes)

    def _take(self) -> bytes:
        taken = bytes(self._pending)
        self._pending.clear()
        return taken


class LineSplitter:
    """Collects bytes; a line over `limit_bytes` is dropped whole and only its size is reported."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._pending = bytearray()
        self._skipped = 0

    def feed(self, data: bytes) -> tuple[bytes, int]:
        """Returns the whole lines that are there now, and the size of a dropped line, or 0."""
        dropped = 0
        if self._skipped:
            end = data.find(b"\n") + 1
            self._skipped += end or len(data)
            if not end:
                return b"", 0
            dropped, self._skipped, data = self._skipped, 0, data[end:]
        end = data.rfind(b"\n") + 1
        if not end:
            self._pending += data
            whole = b""
        else:
            whole = bytes(self._pending) + data[:end] if self._pending else data[:end]
            self._pending = bytearray(data[end:])
        if len(self._pending) > self._limit_bytes:
            self.drop()
        return whole, dropped

    @property
    def unfinished_bytes(self) -> int:
        """The size of the line that has no end yet."""
        return len(self._pending)

    def drop(self) -> None:
        """Drops the line that has no end yet; its rest is skipped and its size reported then."""
        self._skipped = len(self._pending)
        self._pending.clear()

    def rest(self) -> bytes:
        """Returns the bytes after the last line end, when the stream has ended."""
        return bytes(self._pending)
