"""One record as a line for a person, secrets covered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from watchgate.core.records import Record


def record_line(record: Record, *, dated: bool = False) -> str:
    """Write when, by the clock of this machine, who, what kind of record, and what it says.

    With `dated` the day is told, so that the time can be pasted behind `since:`.
    """
    from watchgate.core.record_fields import SHOWN_CHARS, words
    from watchgate.core.redact import redact

    at = datetime.fromtimestamp(record.at / 1_000_000, UTC).astimezone()
    time = at.strftime("%Y-%m-%dT%H:%M:%S" if dated else "%H:%M:%S")
    who = f"{record.agent or 'core'} {(record.session or '')[:SHOWN_CHARS]}".strip()
    return f"{time}  {who:<16}  {record.kind:<20}  {redact(words(record))}"
