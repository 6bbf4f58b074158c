"""The core's half of the control protocol, read: bytes to lines, lines to answers and pushes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from watchgate.core.base import decoding
from watchgate.core.model.records import Record
from watchgate.link.protocol import Hello, Push, Refusal, RefusalCode, Request, Result

ControlAnswer = Result | Refusal


class LinkError(Exception):
    """The way to a core failed; the message is fit to be read."""


class NoCore(LinkError):
    """Nobody could be reached at the control socket, so nothing was asked."""

    def __init__(self, path: Path, why: str) -> None:
        self.path = path
        self.why = why
        super().__init__(
            f"no core at {path}: {why}. Start one with `watchgate` (it goes on in the background) "
            "or `watchgate serve` (in the foreground)"
        )


class CoreLost(LinkError):
    """The connection ended; what was asked and not answered may have happened or not."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        super().__init__(f"the core is gone: {reason}")


class RequestRefused(LinkError):
    """The core refused a request that the caller cannot go on without."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.message)


class _ControlLine(msgspec.Struct, frozen=True, kw_only=True):
    # One shape with every field, since structs without tags cannot form a union.
    id: int | None = None
    ok: dict[str, Any] | None = None
    refused: RefusalCode | None = None
    message: str = ""
    by: str | None = None
    at: int | None = None
    word: str | None = None
    wait_s: int | None = None
    record: Record | None = None
    gap: tuple[int, int] | None = None
    closed: str | None = None


LINE_LIMIT_BYTES = 256 * 1024 * 1024
"""No line of a core is near as long: whoever sends more would take all memory."""

HELLO_LIMIT_BYTES = 64 * 1024

_LINES = decoding.decoder(_ControlLine)
_HELLO = decoding.decoder(Hello)


class LineReader:
    """Cuts a byte stream into lines and decodes them, many at a time.

    Raises `CoreLost` for bytes that are not the control protocol.
    """

    def __init__(self) -> None:
        self._rest = bytearray()
        self._without_end = 0  # so many bytes of the rest are known to hold no end of a line

    def hello(self, chunk: bytes) -> Hello | None:
        """The core's first line, once enough bytes have come."""
        self._rest += chunk
        end = self._rest.find(b"\n")
        if end < 0:
            self._check(HELLO_LIMIT_BYTES)
            return None
        line = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            return _HELLO.decode(line)
        except decoding.JSON_FAULTS as error:
            raise _not_the_protocol(error) from error

    def feed(self, chunk: bytes) -> list[ControlAnswer | Push]:
        """The lines that these bytes complete, in order; also those left over after the hello."""
        self._rest += chunk
        cut = self._rest.rfind(b"\n", self._without_end) + 1
        whole = bytes(self._rest[:cut])
        del self._rest[:cut]
        self._without_end = len(self._rest)
        self._check(LINE_LIMIT_BYTES)
        try:
            return [_sort(line) for line in _LINES.decode_lines(whole)]
        except decoding.JSON_FAULTS as error:
            raise _not_the_protocol(error) from error

    def _check(self, limit_bytes: int) -> None:
        if len(self._rest) > limit_bytes:
            raise CoreLost(f"it sent more than {limit_bytes:,} bytes without an end of a line")


def request_line(request: Request) -> bytes:
    """The request as the core reads it."""
    return msgspec.json.encode(request) + b"\n"


def _sort(line: _ControlLine) -> ControlAnswer | Push:
    if line.id is None:
        return Push(record=line.record, gap=line.gap, closed=line.closed)
    if line.refused is None:
        return Result(id=line.id, ok=line.ok or {})
    return Refusal(
        id=line.id,
        refused=line.refused,
        message=line.message,
        by=line.by,
        at=line.at,
        word=line.word,
        wait_s=line.wait_s,
    )


def _not_the_protocol(error: Exception) -> CoreLost:
    return CoreLost(
        f"it sent a line that this version cannot read ({error}); "
        "`watchgate stop` and start again after an upgrade"
    )
