"""Reads the calls in a database of OpenCode."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from watchgate.agents.transcripts.opencode_transcript import OpenCodeCalls, OpenCodeSession
from watchgate.core.lookback.transcript_call import TranscriptCall
from watchgate.service.usage.file_reading import NotOursError, open_own
from watchgate.service.usage.foreign_sqlite import HEADER_BYTES, only_stored, read_only
from watchgate.service.usage.transcript_files import UnreadableError

_US_PER_MS = 1_000
_BATCH = 500


def call_batches(
    path: Path,
    reader: OpenCodeCalls,
    since_us: int,
    *,
    newest: int = 2**62,
    holding: bytes = b'"tool"',
) -> Iterator[list[TranscriptCall]]:
    """Yields the calls of parts that changed since then; raises `UnreadableError`.

    Args:
        path: The database.
        reader: Decodes the parts, and holds the sessions.
        since_us: UTC µs.
        newest: Only so many of the newest parts are looked at.
        holding: Only parts that hold this text are read.
    """
    try:
        with open_own(str(path)) as (descriptor, _):
            header = os.read(descriptor, HEADER_BYTES)
        with closing(read_only(str(path), header)) as database:
            only_stored(database, "session", "part")
            _sessions(database, reader)
            rows = database.execute(
                "SELECT session_id, time_created, data FROM part"
                " WHERE rowid > (SELECT max(rowid) FROM part) - ? AND time_updated >= ?",
                (newest, since_us // _US_PER_MS),
            )
            while some := rows.fetchmany(_BATCH):
                yield [asked for row in some for asked in _calls(reader, row, holding)]
    except (sqlite3.Error, OSError, ValueError, NotOursError):
        raise UnreadableError(str(path)) from None


def _sessions(database: sqlite3.Connection, reader: OpenCodeCalls) -> None:
    for session, parent, folder in database.execute("SELECT id, parent_id, directory FROM session"):
        known = OpenCodeSession(_text(folder), _text(parent))
        reader.sessions[_text(session)] = known


def _calls(
    reader: OpenCodeCalls, row: tuple[Any, Any, Any], holding: bytes
) -> list[TranscriptCall]:
    session, at_ms, data = row
    if not isinstance(data, bytes) or holding not in data:
        return []
    return reader.read(data, _text(session), at_ms)


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else ""
