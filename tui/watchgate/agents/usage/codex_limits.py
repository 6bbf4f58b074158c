"""The lines of a Codex rollout that matter for usage, and the rate limits in them.

Source: Codex CLI 0.34 to 0.153, `sessions/**/rollout-*.jsonl`: `{timestamp, type, payload}`, where
the payload of an `event_msg` of type `token_count` holds usage. Lines of before have no payload,
and tell no usage. `cache_write_input_tokens` is there since 0.145.
"""

from __future__ import annotations

from watchgate.agents.usage.codex_lines import RateLimits, Window
from watchgate.core.ledger.counted import Limit

MAIN = "codex"
"""The limits of the account; others are those of one model alone."""

US = 1_000_000
DAY_MIN, HOUR_MIN = 1_440, 60
LATEST_S = 2**40


def is_told(limits: RateLimits) -> bool:
    """Returns whether there are windows of the account; older versions gave no id."""
    windows = limits.primary is not None or limits.secondary is not None
    return windows and limits.limit_id in (None, "", MAIN)


def limits_of(limits: RateLimits, at_us: int) -> tuple[Limit, ...]:
    """Returns the windows, the shorter first; `at_us` is when they were written (UTC µs)."""
    windows = [window for window in (limits.primary, limits.secondary) if window is not None]
    current_limits = [limit for window in windows if (limit := _limit(window, at_us)) is not None]
    return tuple(sorted(current_limits, key=lambda limit: limit.window_min))


def _limit(window: Window, at_us: int) -> Limit | None:
    used, minutes = _number(window.used_percent), _number(window.window_minutes)
    if used is None:
        return None
    resets_at, resets_in = _number(window.resets_at), _number(window.resets_in_seconds)
    if resets_at is not None:
        resets_us = int(resets_at * US)
    else:
        resets_us = at_us + int(resets_in * US) if resets_in is not None and at_us else 0
    window_min = int(minutes or 0)
    return Limit(
        name=_name(window_min), used_percent=used, window_min=window_min, resets_at=resets_us
    )


def _name(window_min: int) -> str:
    """Returns the window's length as people say it; some versions wrote a minute less."""
    for unit_min, unit in ((DAY_MIN, "d"), (HOUR_MIN, "h")):
        for minutes in (window_min, window_min + 1):
            if minutes >= unit_min and minutes % unit_min == 0:
                return f"{minutes // unit_min} {unit}"
    return f"{window_min} min" if window_min else "limit"


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value <= LATEST_S else None
