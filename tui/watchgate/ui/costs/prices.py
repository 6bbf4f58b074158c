"""The table of prices that computed figures are by: its date, and when that is too long ago."""

from __future__ import annotations

import re
from datetime import date

OLD_DAYS = 45
"""Older prices than this are warned of: models change theirs about as often."""

_DATE = re.compile(r"\b(\d{4}-\d{2}-\d{2})\b")


def dated(prices: str) -> date | None:
    """The date in the words of a table (`prices of 2026-11-18, genai-prices 0.2.3`)."""
    match = _DATE.search(prices[:200])
    try:
        return date.fromisoformat(match.group()) if match else None
    except ValueError:
        return None


def days_old(prices: str, today: date) -> int | None:
    """Returns how old the table is, where that is too old to be passed over; else None."""
    date = dated(prices)
    age = (today - date).days if date else 0
    return age if age > OLD_DAYS else None
