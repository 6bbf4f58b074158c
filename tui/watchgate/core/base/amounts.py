"""Money and counts as the console, the command line and reports write them; unknown is `?`."""

from __future__ import annotations

UNKNOWN = "?"


def money(usd: float | None) -> str:
    """Dollars with two decimals, three below a cent, `?` when not known; what cost is never $0."""
    if usd is None:
        return UNKNOWN
    return part_money(usd) if 0 < usd < 0.01 else f"${usd:,.2f}"


def part_money(usd: float | None) -> str:
    """Writes the cost of one call or turn, with three decimals below a dollar."""
    if usd is None or usd == 0 or usd >= 0.9995:
        return money(usd)
    return f"${usd:.3f}" if usd >= 0.0005 else "<$0.001"


def count(number: int) -> str:
    """A number with its thousands apart: `1,182`."""
    return f"{number:,}"


def tokens(number: int | None) -> str:
    """A count of tokens in three digits or so: `812`, `38.4 k`, `402 k`, `1.21 M`, `12.4 M`."""
    if number is None:
        return UNKNOWN
    if number < 1_000:
        return str(number)
    if number < 999_500:
        return f"{number / 1_000:.1f} k" if number < 99_950 else f"{number / 1_000:.0f} k"
    millions, unit = number / 1_000_000, "M"
    if millions >= 999.5:
        millions, unit = millions / 1_000, "G"
    digits = 2 if millions < 9.995 else 1 if millions < 99.95 else 0
    return f"{millions:,.{digits}f} {unit}"


def plural(number: int, noun: str) -> str:
    """A count with its noun: `1 session`, `4 sessions`."""
    return f"{count(number)} {noun}{'' if number == 1 else 's'}"
