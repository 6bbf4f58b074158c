"""Windows of rate limits as agents report them, in words; nothing here guesses one."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, tzinfo

import msgspec

from watchgate.core.base.text import safe_text
from watchgate.core.model.usage_records import Limit
from watchgate.core.usage.session_usage import ReportedLimits
from watchgate.ui.base.formats import ago, clock

NAME_CHARS = 16
REPORTED = "as reported "
LATELY_S = 60
DAY_US = 86_400 * 1_000_000
_RAW = ("", "primary", "secondary", "five_hour", "seven_day")
"""Names that say less than the length of the window does."""


class Window(msgspec.Struct, frozen=True):
    """One window at a moment; `used` is 0 to 1, None where it began anew since its report."""

    name: str
    used: float | None
    words: str


class AgentLimits(msgspec.Struct, frozen=True):
    """The windows of one agent's account, and how old the report is, in words."""

    agent: str
    windows: tuple[Window, ...]
    reported_words: str


def agent_limits(
    reports: Mapping[str, ReportedLimits], now_us: int, zone: tzinfo | None = None
) -> tuple[AgentLimits, ...]:
    """Returns the limits that agents have reported, as they stand now."""
    return tuple(
        AgentLimits(
            agent,
            tuple(window(limit, now_us, zone) for limit in each.limits),
            report_age(each.at, now_us),
        )
        for agent, each in sorted(reports.items())
        if each.limits
    )


def window(limit: Limit, now_us: int, zone: tzinfo | None = None) -> Window:
    """Returns the words for a rate limit's window now: `42 %`, `resets 14:20`."""
    name = _name(limit)
    if not limit.resets_at:
        return Window(name, _share(limit), "")
    at = _moment(limit.resets_at, now_us, zone)
    if limit.resets_at <= now_us:
        return Window(name, None, f"reset at {at}, not told since")
    return Window(name, _share(limit), f"resets {at}")


def report_age(at_us: int, now_us: int) -> str:
    """Returns the report's age in words: `as reported 3 min ago`."""
    seconds = (now_us - at_us) / 1_000_000
    return REPORTED + ("just now" if seconds < LATELY_S else f"{ago(seconds)} ago")


def _share(limit: Limit) -> float:
    return min(1.0, max(0.0, limit.used_percent / 100))


def _name(limit: Limit) -> str:
    """Names the window: by its length where its name says no more."""
    name = safe_text(limit.name[:NAME_CHARS]).strip()
    if name not in _RAW and name:
        return name
    hours, days = limit.window_min // 60, limit.window_min // 1_440
    if limit.window_min and limit.window_min % 1_440 == 0:
        return f"{days} d"
    if hours:
        return f"{hours} h"
    return {"five_hour": "5 h", "seven_day": "7 d"}.get(name, name or "limit")


def _moment(at_us: int, now_us: int, zone: tzinfo | None) -> str:
    """A time of day; with its weekday or date where that is not today's."""
    try:
        there = datetime.fromtimestamp(at_us / 1_000_000, zone)
        today = datetime.fromtimestamp(now_us / 1_000_000, zone)
    except (OverflowError, ValueError, OSError):
        return "?"
    time = clock(at_us, zone)[:5]
    if there.date() == today.date():
        return time
    if abs(at_us - now_us) < 6 * DAY_US:
        return f"{there:%a} {time}"
    return f"{there:%d %b}"
