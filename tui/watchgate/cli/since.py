"""`--since`: how far back, as a person writes it."""

from __future__ import annotations

from watchgate.cli.exits import Exit, Stop

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_DIGITS = 9


def since_us(text: str | None) -> int | None:
    """The moment that long ago (UTC µs); None without a text."""
    if text is None:
        return None
    from watchgate.service.clock import SystemClock

    number, unit = text[:-1], text[-1:]
    digits = number.isascii() and number.isdecimal() and len(number) <= _DIGITS
    if unit not in _UNITS or not digits:
        takes = f"a number of up to {_DIGITS} digits with s, m, h or d (30s, 10m, 2h)"
        raise Stop(f"--since takes {takes}, not {text[:40]!r}", Exit.USAGE)
    return max(0, SystemClock().now().wall_us - int(number) * _UNITS[unit] * 1_000_000)
