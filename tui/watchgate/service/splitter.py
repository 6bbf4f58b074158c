"""Cutting a byte stream into whole lines, with a limit on how long one line may be."""

from __future__ import annotations


class Splitter:
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
