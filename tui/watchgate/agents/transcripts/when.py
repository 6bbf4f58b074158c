"""When a line of a transcript was written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

_US_PER_MS = 1_000
_LATEST_MS = 253_402_300_799_000


def moment_us(said: Any) -> int:
    """UTC µs of an ISO 8601 text, or of milliseconds since 1970; 0 for anything else."""
    if isinstance(said, str):
        try:
            told = datetime.fromisoformat(said)
            zoned = told if told.tzinfo is not None else told.replace(tzinfo=UTC)
            return max(0, int(zoned.timestamp() * 1_000_000))
        except (ValueError, OverflowError):
            return 0
    if isinstance(said, int | float) and not isinstance(said, bool) and 0 < said <= _LATEST_MS:
        return int(said * _US_PER_MS)
    return 0
