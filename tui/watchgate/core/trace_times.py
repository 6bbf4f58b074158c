"""The handler that costs the most time."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from watchgate.core.traces import TraceView

DAY_US = 86_400 * 1_000_000


class Slowest(msgspec.Struct, frozen=True):
    """The handler whose slowest twentieth takes longest, and the lower bound of that time."""

    handler: str
    p95_ms: float


def slowest(traces: Iterable[TraceView], day_of_us: int) -> Slowest | None:
    """Returns the slowest handler of the UTC day that holds `day_of_us`; None when none ran."""
    day = day_of_us // DAY_US
    times: dict[str, list[float]] = {}
    for trace in traces:
        if trace.at // DAY_US != day:
            continue
        for row in trace.data.rows:
            if row.duration_ms is not None:
                times.setdefault(row.handler, []).append(row.duration_ms)
    if not times:
        return None
    return max(
        (Slowest(handler, percentile(taken, 95)) for handler, taken in times.items()),
        key=lambda each: each.p95_ms,
    )


def percentile(values: list[float], percent: int) -> float:
    """Returns the smallest value that at least so many percent are not above (nearest rank)."""
    rank = -(-percent * len(values) // 100)
    return sorted(values)[max(1, rank) - 1]
