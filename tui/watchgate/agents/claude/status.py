"""Claude Code's status line: the usage of a session, and one line about it.

Wire format: the standard input of a status-line command of Claude Code 2.1.
"""

from __future__ import annotations

from typing import Any, Final

from watchgate.agents.claude import limits
from watchgate.agents.proxied.wrapped import count, number, table, word
from watchgate.core.events import Usage
from watchgate.core.text import safe_text

NATIVE: Final = "StatusLine"


def usage(payload: dict[str, Any]) -> Usage:
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
        limits=limits.of_status(payload),
    )


def _used(window: dict[str, Any], newest: dict[str, Any], size: int | None) -> int | None:
    """Returns the tokens in the context: what the newest call read, else the share that is told."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    read = [each for name in names if (each := count(newest.get(name))) is not None]
    if read:
        return sum(read)
    share = number(window.get("used_percentage"))
    return None if share is None or size is None else round(size * share / 100)


def line(payload: dict[str, Any]) -> str:
    """Returns one line of text; what is not known is left out."""
    model = table(payload.get("model"))
    cost = number(table(payload.get("cost")).get("total_cost_usd"))
    used = number(table(payload.get("context_window")).get("used_percentage"))
    parts = (
        "watchgate",
        safe_text(word(model.get("display_name"), 64) or word(model.get("id"), 64)),
        "" if cost is None else f"${cost:.2f}",
        "" if used is None else f"ctx {used:.0f}%",
        *limits.shown(limits.of_status(payload)),
    )
    return " · ".join(part for part in parts if part)
