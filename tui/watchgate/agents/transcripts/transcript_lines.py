"""The lines of transcripts, taken apart and decoded, with odd values made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Generic, TypeVar

import msgspec

from watchgate.core.base import decoding
from watchgate.core.base.decoding import JSON_FAULTS

_US_PER_MS = 1_000
_LATEST_MS = 253_402_300_799_000


def moment_us(written: Any) -> int:
    """Returns UTC µs of an ISO 8601 text, or of milliseconds since 1970; 0 for anything else."""
    if isinstance(written, str):
        try:
            moment = datetime.fromisoformat(written)
            zoned = moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)
            return max(0, int(zoned.timestamp() * 1_000_000))
        except (ValueError, OverflowError):
            return 0
    if (
        isinstance(written, int | float)
        and not isinstance(written, bool)
        and 0 < written <= _LATEST_MS
    ):
        return int(written * _US_PER_MS)
    return 0


NAME_CHARS = 512
FOLDER_CHARS = 8_192

T = TypeVar("T")


class LineDecoder(Generic[T]):
    """Decodes whole lines into one shape; `unreadable` counts those that are no such JSON."""

    def __init__(self, shape: type[T]) -> None:
        self.unreadable = 0
        self._decoder = decoding.decoder(shape)

    def of(self, chunk: bytes) -> Iterator[T]:
        """Returns the lines of a chunk, in order."""
        decode = self._decoder.decode
        for line in chunk.split(b"\n"):
            if not line or line.isspace():
                continue
            try:
                yield decode(line)
            except JSON_FAULTS:
                self.unreadable += 1


class LineCalls(Generic[T]):
    """The reader of calls in one file.

    `stem` is the file's name, for one that names no session.

    `cwd` is the folder that its calls run in where it names none. What was asked for before
    `copied_until_us` (UTC µs) is a copy of another session's.
    """

    def __init__(self, shape: type[T], stem: str, cwd: str) -> None:
        self._lines = LineDecoder(shape)
        self._session = stem
        self._cwd = cwd
        self.copied_until_us = 0

    @property
    def session(self) -> str:
        """The session that the file is of, as far as it was read."""
        return self._session

    @property
    def unreadable(self) -> int:
        """The number of lines that were no JSON objects."""
        return self._lines.unreadable


def decoded(raw: msgspec.Raw | bytes) -> Any:
    """Returns a part that was left undecoded; None where it is nothing, or no JSON."""
    try:
        return msgspec.json.decode(raw) if bytes(raw) else None
    except JSON_FAULTS:
        return None


def word(value: Any) -> str:
    """Returns a name from outside, bounded; empty where it is none."""
    return value[:NAME_CHARS] if isinstance(value, str) else ""


def folder(value: Any) -> str:
    """Returns a folder from outside; empty where it is none, or longer than any system has."""
    return value if isinstance(value, str) and len(value) <= FOLDER_CHARS else ""


def parts(value: Any) -> Iterator[dict[str, Any]]:
    """Yields the objects of a list."""
    for each in value if isinstance(value, list) else ():
        if isinstance(each, dict):
            yield each


def mapping(value: Any) -> dict[str, Any]:
    """Returns an object; an empty one for anything else."""
    return value if isinstance(value, dict) else {}
