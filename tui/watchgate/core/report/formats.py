"""Times, amounts and counts as the report writes them; an unknown one reads `?`."""

from __future__ import annotations

from datetime import UTC, datetime, tzinfo

from watchgate.core import amounts
from watchgate.core.amounts import UNKNOWN
from watchgate.core.usage.meter import NANO

_US = 1_000_000


def moment(at_us: int, zone: tzinfo | None) -> datetime | None:
    """Returns a time (UTC µs) by a zone's clock, or this machine's; None: no clock shows it."""
    try:
        return datetime.fromtimestamp(at_us / _US, UTC).astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return None


def clock(at_us: int, zone: tzinfo | None) -> str:
    """Writes the time of day, `12:04:11`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"{at:%H:%M:%S}"


def day(at_us: int, zone: tzinfo | None) -> str:
    """Writes the day, `Fri 20 Nov 2026`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"{at:%a} {at.day} {at:%b %Y}"


def offset(at_us: int, zone: tzinfo | None) -> str:
    """Writes the offset of a zone's clock from UTC, `UTC+01:00`."""
    at = moment(at_us, zone)
    return UNKNOWN if at is None else f"UTC{at.isoformat()[-6:]}"


def took(ms: float) -> str:
    """Writes elapsed time: `41 ms`, `3.4 s`, `2:05`, `1 h 12 min`."""
    if ms < 1_000:
        return f"{ms:.1f} ms" if 0 < ms < 1 else f"{ms:.0f} ms"
    if ms < 60_000:
        return f"{ms / 1_000:.1f} s"
    minutes, seconds = divmod(int(ms) // 1_000, 60)
    if minutes < 60:
        return f"{minutes}:{seconds:02d}"
    return f"{minutes // 60:,} h {minutes % 60} min"


def person(seconds: float) -> str:
    """Writes a person's time, `m:ss`."""
    minutes, rest = divmod(max(0, round(seconds)), 60)
    return f"{minutes}:{rest:02d}"


def money(nano: int | None) -> str:
    """Writes nano-dollars as dollars, with three decimals below a cent."""
    return amounts.money(None if nano is None else nano / NANO)
