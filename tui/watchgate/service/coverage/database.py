"""The calls that OpenCode's database says have run: parts of the type `tool` that are completed."""

from __future__ import annotations

import os
from pathlib import Path

from watchgate.agents.transcripts.opencode import OpenCodeCalls
from watchgate.core.lookback.asked import Asked
from watchgate.core.recent import Recent
from watchgate.service.lookback.files import UnreadableError
from watchgate.service.lookback.opencode import batches
from watchgate.service.usage.followed import NEVER, Stamp, stamp
from watchgate.service.usage.sqlite_uri import wal_stamp

NEWEST = 300
"""Parts that are looked at: a call that has just ended began lately, and no index tells which."""
IDS_KEPT = 4_000
_COMPLETED = b'"status":"completed"'


class Database:
    """Reads one database when it, or its log, has changed."""

    def __init__(self, path: str, since_us: int) -> None:
        """Calls that began before `since_us` (UTC µs) are old."""
        self._path = path
        self._since_us = since_us
        self._stamps: tuple[Stamp, Stamp] = (NEVER, NEVER)
        self._ids: Recent[tuple[str, str], None] = Recent(IDS_KEPT)

    def ran(self) -> list[Asked]:
        """The calls that have run since this was last asked; none where it cannot be read now."""
        try:
            stamps = stamp(os.lstat(self._path)), wal_stamp(self._path)
        except (OSError, ValueError):
            return []
        if stamps == self._stamps:
            return []
        found: list[Asked] = []
        try:
            reader = OpenCodeCalls()
            for some in batches(
                Path(self._path), reader, self._since_us, newest=NEWEST, holding=_COMPLETED
            ):
                found += (asked for asked in some if self._is_new(asked))
        except UnreadableError:
            return found  # it is being written: the next look sees all of it
        self._stamps = stamps
        return found

    def _is_new(self, asked: Asked) -> bool:
        key = asked.session, asked.tool.call_id or ""
        if not key[1] or asked.at_us < self._since_us or key in self._ids:
            return False
        self._ids[key] = None
        return True
