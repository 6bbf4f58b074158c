"""The lines of transcripts, taken apart and decoded, with odd values made harmless."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

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
