"""Follows agents' transcripts, and reports the calls in them that no hook reported.

A call is in its transcript once it has run, and a gate was asked before that: a call that no
hook has reported half a second after its result was found has passed no gate. That a person
broke a turn off is reported at once. OpenCode's calls come from its database.
"""

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

    def new_calls(self) -> list[Asked]:
        """Returns the calls that have run since the last look; none while it cannot be read."""
        try:
            stamps = stamp(os.lstat(self._path)), wal_stamp(self._path)
        except (OSError, ValueError):
            return []
        if stamps == self._stamps:
            return []
        calls: list[Asked] = []
        try:
            reader = OpenCodeCalls()
            for some in batches(
                Path(self._path), reader, self._since_us, newest=NEWEST, holding=_COMPLETED
            ):
                calls += (asked for asked in some if self._is_new(asked))
        except UnreadableError:
            return calls  # it is being written: the next look sees all of it
        self._stamps = stamps
        return calls

    def _is_new(self, asked: Asked) -> bool:
        key = asked.session, asked.tool.call_id or ""
        if not key[1] or asked.at_us < self._since_us or key in self._ids:
            return False
        self._ids[key] = None
        return True
