"""Server-sent events: the data of each event, whatever pieces the bytes come in.

Wire format: the event stream of the HTML standard, https://html.spec.whatwg.org/#server-sent-events.
"""

from __future__ import annotations

LIMIT_BYTES = 16 * 1024 * 1024


class EventStreamError(ValueError):
    """An event is longer than anything that could be read."""


class EventStream:
    """Cuts bytes into events."""

    def __init__(self, limit_bytes: int = LIMIT_BYTES) -> None:
        self._limit_bytes = limit_bytes
        self._rest = b""
        self._data: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes]:
        """Returns the data of the events that these bytes complete; raises `EventStreamError`."""
        text = self._rest + chunk
        # A carriage return at the very end may be half of a line's end.
        whole, self._rest = (text[:-1], b"\r") if text.endswith(b"\r") else (text, b"")
        *lines, last = whole.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._rest = last + self._rest
        events = [data for line in lines if (data := self._line(line)) is not None]
        if len(self._rest) + self._size > self._limit_bytes:
            raise EventStreamError(f"an event of over {self._limit_bytes} bytes")
        return events

    def _line(self, line: bytes) -> bytes | None:
        if line:
            name, _, value = line.partition(b":")
            if name == b"data":
                self._data.append(value.removeprefix(b" "))
                self._size += len(value)
            return None
        event = b"\n".join(self._data) if self._data else None
        self._data, self._size = [], 0
        return event
