"""`--since`: from when on, as a person writes it and as `since:` in a filter reads it."""

from __future__ import annotations

from watchgate.cli.base.printing import Exit, Stop


def since_us(text: str | None) -> int | None:
    """The moment that a text means (UTC µs); None without a text."""
    if text is None:
        return None
    from watchgate.core.base import time_parsing

    try:
        return time_parsing.since_us(text, now_us())
    except ValueError as fault:
        raise Stop(f"--since {text[:40]!r}: {fault}", Exit.USAGE) from None


def now_us() -> int:
    """Reads this machine's clock (UTC µs)."""
    from watchgate.service.system.system_clock import SystemClock

    return SystemClock().now().wall_us
