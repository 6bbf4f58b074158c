"""Times as a person writes them: so long ago, a time of day, a day, or both."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

_UNIT_US: Final = {
    "s": 1_000_000,
    "m": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
    "w": 604_800_000_000,
}
_DIGITS = 9
_AGO = re.compile(rf"([0-9]{{1,{_DIGITS}}})([smhdw])", re.IGNORECASE)
_CLOCK = r"([0-9]{2}):([0-9]{2})(?::([0-9]{2}))?"
_TIME = re.compile(_CLOCK)
_DATE = re.compile(rf"([0-9]{{4}})-([0-9]{{2}})-([0-9]{{2}})(?:[T ]{_CLOCK}(Z)?)?", re.IGNORECASE)
_LAST_S: Final = int(datetime.max.replace(tzinfo=UTC).timestamp()) - 1
_DAYS_AGO: Final = {"today": 0, "yesterday": 1}
_DAY = timedelta(days=1)
_MICROSECOND = timedelta(microseconds=1)

TAKES: Final = "30m, 2h, 7d, 12:04, today, yesterday, 2026-11-20 or 2026-11-20T12:04"
"""The forms by example, for whoever wrote something else."""


def since_us(text: str, now_us: int, zone: tzinfo | None = None) -> int:
    """Parses the moment (UTC µs) from which on a text wants things; raises `ValueError`.

    Times of day are those of `zone`, or else of where this machine is. One that is still to come
    today means yesterday's.
    """
    ago = _ago_us(text, now_us)
    if ago is not None:
        return ago
    start, _, floats = _unit(text, now_us, zone)
    if floats and _us(start) > now_us:
        start -= _DAY
    return max(0, _us(start))


def until_us(text: str, now_us: int, zone: tzinfo | None = None) -> int:
    """Parses the moment (UTC µs) before which a text wants things; raises `ValueError`.

    What is named is still wanted: all of that day, minute or second.
    """
    ago = _ago_us(text, now_us)
    if ago is not None:
        return ago
    start, lasts, _ = _unit(text, now_us, zone)
    if lasts == _DAY and start.date() < date.max:
        # Where clocks are put forward or back, a day has not 24 hours.
        return max(0, _us(start + _DAY))
    return max(0, _us(start) + lasts // _MICROSECOND)


def write_utc(at_us: int) -> str:
    """Writes a moment (UTC µs) so that it is read alike everywhere, to the second that it is in."""
    return datetime.fromtimestamp(min(at_us // 1_000_000, _LAST_S), UTC).strftime(
        "%Y-%m-%dT%H:%M:%SZ"
    )


def _ago_us(text: str, now_us: int) -> int | None:
    match = _AGO.fullmatch(text)
    return max(0, now_us - int(match[1]) * _UNIT_US[match[2].lower()]) if match else None


def _unit(text: str, now_us: int, zone: tzinfo | None) -> tuple[datetime, timedelta, bool]:
    """Returns the beginning and the length of the named day or time, and if it names no day."""
    try:
        today = datetime.fromtimestamp(now_us / 1_000_000, zone).replace(
            hour=0, minute=0, second=0, microsecond=0
        )
        if text.lower() in _DAYS_AGO:
            return today - _DAYS_AGO[text.lower()] * _DAY, _DAY, False
        if match := _TIME.fullmatch(text):
            return (*_at(today, *match.groups()), True)
        if match := _DATE.fullmatch(text):
            year, month, day, hour, minute, second, utc = match.groups()
            named = today.replace(year=int(year), month=int(month), day=int(day))
            if hour is None:
                return named, _DAY, False
            at, lasts = _at(named, hour, minute, second)
            return at.replace(tzinfo=UTC) if utc else at, lasts, False
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"there is no such time; it takes {TAKES}") from None
    raise ValueError(f"no time that can be read; it takes {TAKES}")


def _at(day: datetime, hour: str, minute: str, second: str | None) -> tuple[datetime, timedelta]:
    named = day.replace(hour=int(hour), minute=int(minute), second=int(second or 0))
    return named, timedelta(seconds=1) if second else timedelta(minutes=1)


def _us(moment: datetime) -> int:
    try:
        return int(moment.timestamp()) * 1_000_000
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"there is no such time; it takes {TAKES}") from None
