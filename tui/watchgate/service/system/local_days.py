"""The days of this machine's own time, however its clock is set forward and back over a year."""

from __future__ import annotations

from datetime import UTC, date, datetime

_EPOCH = date(1970, 1, 1).toordinal()
_DAY_S = 86_400


def local_day(at_us: int) -> int:
    """Returns the local day of a moment (UTC µs), in days since 1970; UTC's where it has none."""
    seconds = at_us // 1_000_000
    try:
        return datetime.fromtimestamp(seconds, UTC).astimezone().toordinal() - _EPOCH
    except (OverflowError, OSError, ValueError):
        return seconds // _DAY_S


def utc_offset_s(at_us: int) -> int:
    """Returns by how much this machine's time is ahead of UTC at a moment (UTC µs)."""
    try:
        offset = datetime.fromtimestamp(at_us // 1_000_000, UTC).astimezone().utcoffset()
    except (OverflowError, OSError, ValueError):
        return 0
    return int(offset.total_seconds()) if offset is not None else 0
