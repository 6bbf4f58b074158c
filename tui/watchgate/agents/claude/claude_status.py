"""Claude Code's status line: the usage of a session, and one line about it.

Wire format: the standard input of a status-line command of Claude Code 2.1.

The windows of rate limits come in the status line and in the stream.

Wire format: `rate_limits` of a status line since version 2.1.80, and `rate_limit_info` of a
`rate_limit_event` of stream-json. Only accounts with a subscription have them.
"""

from __future__ import annotations

import math
from typing import Any, Final

from watchgate.agents.proxied.wrapped import count, number, table, word
from watchgate.core.base.text import safe_text
from watchgate.core.model.events import Usage
from watchgate.core.model.usage_records import Limit

SECOND_US: Final = 1_000_000
MAX_LIMITS: Final = 16
_NAME_CHARS = 64
_LAST_S = 1e11
_MAX_PERCENT = 1e6
_MINUTES: Final = {"five": 300, "seven": 10_080}
"""Minutes of a window, by the beginning of its name: `five_hour`, `seven_day`, `seven_day_opus`."""


def limits_of_status(payload: dict[str, Any]) -> tuple[Limit, ...]:
    """Returns the windows that a status line tells of, each with the percentage that is used."""
    windows = table(payload.get("rate_limits"))
    limits = (
        _limit(name, table(window), percent=number(table(window).get("used_percentage")))
        for name, window in list(windows.items())[:MAX_LIMITS]
    )
    return tuple(limit for limit in limits if limit is not None)


def limits_of_event(message: dict[str, Any]) -> tuple[Limit, ...]:
    """Returns the windows of a `rate_limit_event`: all of them, or the one that is nearest."""
    info = table(message.get("rate_limit_info"))
    windows = table(info.get("unifiedWindows")) or {word(info.get("rateLimitType")): info}
    limits = (
        _limit(name, table(window), percent=_share(table(window).get("utilization")))
        for name, window in list(windows.items())[:MAX_LIMITS]
    )
    return tuple(limit for limit in limits if limit is not None)


def limit_texts(limits: tuple[Limit, ...]) -> tuple[str, ...]:
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


STATUS_LINE: Final = "StatusLine"


def status_usage(payload: dict[str, Any]) -> Usage:
    """Returns the tokens of the newest call, the cost of the session, the account's rate limits."""
    window = table(payload.get("context_window"))
    newest = table(window.get("current_usage"))
    size = count(window.get("context_window_size"))
    return Usage(
        input=count(newest.get("input_tokens")),
        output=count(newest.get("output_tokens")),
        cache_read=count(newest.get("cache_read_input_tokens")),
        cache_write=count(newest.get("cache_creation_input_tokens")),
        total_cost_usd=number(table(payload.get("cost")).get("total_cost_usd")),
        model=word(table(payload.get("model")).get("id")) or None,
        counts="newest",
        context_used=_used(window, newest, size),
        context_size=size,
        limits=limits_of_status(payload),
    )


def _used(window: dict[str, Any], newest: dict[str, Any], size: int | None) -> int | None:
    """Returns the tokens in the context: what the newest call read, else the share that is told."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    read = [each for name in names if (each := count(newest.get(name))) is not None]
    if read:
        return sum(read)
    share = number(window.get("used_percentage"))
    return None if share is None or size is None else round(size * share / 100)


def status_text(payload: dict[str, Any]) -> str:
    """Returns one line of text; what is not known is left out."""
    model = table(payload.get("model"))
    cost = number(table(payload.get("cost")).get("total_cost_usd"))
    used = number(table(payload.get("context_window")).get("used_percentage"))
    parts = (
        "watchgate",
        safe_text(word(model.get("display_name"), 64) or word(model.get("id"), 64)),
        "" if cost is None else f"${cost:.2f}",
        "" if used is None else f"ctx {used:.0f}%",
        *limit_texts(limits_of_status(payload)),
    )
    return " · ".join(part for part in parts if part)
