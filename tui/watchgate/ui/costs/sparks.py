"""Costs over time as a line of small bars, the newest at the right."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from watchgate.core.model.usage_records import Minute, Part

BARS = "▁▂▃▄▅▆▇█"
HOUR_MIN = 60
MINUTE_US = 60 * 1_000_000
BINS = 12
"""The bars of an hour: five minutes each."""


def spark(values: Sequence[int]) -> str:
    """Bars as high as the values are beside the highest; anything above nothing is seen."""
    top = max(values, default=0)
    steps = len(BARS) - 1
    return "".join(BARS[-(-value * steps // top)] if top else BARS[0] for value in values)


def of_hour(minutes: Iterable[Minute], now_us: int) -> tuple[int, ...]:
    """Sums the last hour in bins of five minutes; empty where no cost is known."""
    bins = [0] * BINS
    known = False
    now = now_us // MINUTE_US
    for minute in minutes:
        age = now - minute.at
        if 0 <= age < HOUR_MIN and minute.cost is not None:
            bins[BINS - 1 - age * BINS // HOUR_MIN] += minute.cost
            known = True
    return tuple(bins) if known else ()


def of_turns(turns: Sequence[Part], newest: int) -> tuple[int, ...]:
    """The newest turns one by one: their money, or their tokens where no cost of any is known."""
    shown = turns[-newest:] if newest > 0 else ()
    if any(turn.cost is not None for turn in shown):
        return tuple(turn.cost or 0 for turn in shown)
    return tuple(turn.tokens for turn in shown)
