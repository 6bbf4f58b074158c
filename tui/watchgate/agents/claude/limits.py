"""The windows of rate limits come in the status line and in the stream.

Wire format: `rate_limits` of a status line since version 2.1.80, and `rate_limit_info` of a
`rate_limit_event` of stream-json. Only accounts with a subscription have them.
"""

from __future__ import annotations

import math
from typing import Any, Final

from watchgate.agents.proxied.wrapped import number, table, word
from watchgate.core.ledger.counted import Limit

SECOND_US: Final = 1_000_000
MAX_LIMITS: Final = 16
_NAME_CHARS = 64
_LAST_S = 1e11
_MAX_PERCENT = 1e6
_MINUTES: Final = {"five": 300, "seven": 10_080}
"""How long a window is, by how its name begins: `five_hour`, `seven_day`, `seven_day_opus`."""


def of_status(payload: dict[str, Any]) -> tuple[Limit, ...]:
    """Returns the windows that a status line tells of, each with the percentage that is used."""
    windows = table(payload.get("rate_limits"))
    limits = (
        _limit(name, table(window), percent=number(table(window).get("used_percentage")))
        for name, window in list(windows.items())[:MAX_LIMITS]
    )
    return tuple(limit for limit in limits if limit is not None)


def of_event(message: dict[str, Any]) -> tuple[Limit, ...]:
    """Returns the windows of a `rate_limit_event`: all of them, or the one that is nearest."""
    info = table(message.get("rate_limit_info"))
    windows = table(info.get("unifiedWindows")) or {word(info.get("rateLimitType")): info}
    limits = (
        _limit(name, table(window), percent=_share(table(window).get("utilization")))
        for name, window in list(windows.items())[:MAX_LIMITS]
    )
    return tuple(limit for limit in limits if limit is not None)


def shown(limits: tuple[Limit, ...]) -> tuple[str, ...]:
    """Returns the two windows that everybody has, in a few letters each, if they are known."""
    used = {limit.name: limit.used_percent for limit in limits}
    named = (("5h", "five_hour"), ("7d", "seven_day"))
    return tuple(f"{short} {used[name]:.0f}%" for short, name in named if name in used)


def _limit(name: str, window: dict[str, Any], percent: float | None) -> Limit | None:
    """Returns the window; None where nobody says what share of it is used."""
    if percent is None or not name or len(name) > _NAME_CHARS:
        return None
    if not 0 <= percent <= _MAX_PERCENT:
        return None
    at_s = number(window.get("resets_at", window.get("resetsAt")))
    known = at_s is not None and math.isfinite(at_s) and 0 < at_s < _LAST_S
    return Limit(
        name=name,
        used_percent=percent,
        window_min=_MINUTES.get(name.partition("_")[0], 0),
        resets_at=round(at_s * SECOND_US) if known and at_s is not None else 0,
    )


def _share(value: Any) -> float | None:
    """Returns a share of 1 as a percentage."""
    share = number(value)
    return None if share is None else share * 100
