"""Keeps both ends of a child's output: the middle of a flood is counted and let go."""

from __future__ import annotations

from typing import Final

SHOWN_CHARS: Final = 2_000
_MARK_CHARS: Final = 40


class HeadTail:
    """Keeps the first and the last half of `cap_bytes`, and counts everything."""

    def __init__(self, cap_bytes: int) -> None:
        self._head_cap = cap_bytes - cap_bytes // 2
        self._tail_cap = cap_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self.size = 0

    def add(self, data: bytes) -> None:
        """Takes the next bytes read."""
        self.size += len(data)
        room = self._head_cap - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        if data:
            self._tail += data
            # Trimmed at twice its size, so that a flood is not copied for every read.
            if len(self._tail) > 2 * self._tail_cap:
                self._trim()

    def content(self) -> bytes:
        """Returns head and tail, one after the other; all of it where it fits the cap."""
        self._trim()
        return bytes(self._head + self._tail)

    def _trim(self) -> None:
        del self._tail[: max(0, len(self._tail) - self._tail_cap)]


def shown(output: bytes, size: int, max_chars: int) -> str:
    """Returns output as text of at most `max_chars`: both ends, and how much is left out.

    What is no UTF-8 is shown as escapes. `size` counts all bytes, those that were not kept too.
    """
    if size == len(output) and size <= 4 * max_chars:
        text = output.decode(errors="backslashreplace")
        if len(text) <= max_chars:
            return text
    end = (max_chars - _MARK_CHARS) // 2
    # No character has more than four bytes, so what a cut breaks lies beyond the part that is used.
    head = output[: 4 * end].decode(errors="backslashreplace")[:end]
    tail = output[-4 * end :].decode(errors="backslashreplace")[-end:]
    left_out = size - len(head.encode()) - len(tail.encode())
    return f"{head}\n[{max(0, left_out):,} bytes left out]\n{tail}"
