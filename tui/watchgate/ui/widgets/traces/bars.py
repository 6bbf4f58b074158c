"""One call's dispatches as a waterfall: its title, the scale, and every handler with its bar."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from watchgate.core.verdicts import TraceRow

BAR = "━"
THIN = "─"
_STEPS = (1, 2, 5, 10, 20)
_SHORTEST_TICK = 8
UNIT = " ms"


class Scale(msgspec.Struct, frozen=True):
    """The milliseconds that the cells of a bar stand for, from 0."""

    cells: int
    ms: float

    def cell(self, ms: float) -> int:
        """Returns the cell of a moment; what lies beyond the end is in the last one."""
        if self.ms <= 0:
            return 0
        return min(max(0, int(ms / self.ms * self.cells)), self.cells - 1)


class Bar(msgspec.Struct, frozen=True):
    """Cells before the bar, cells of waiting in the queue, cells of running (at least one)."""

    before: int
    queued: int
    running: int


def scale(rows: Iterable[TraceRow], cells: int) -> Scale:
    """Returns the common scale of all dispatches of one call."""
    ends = [
        row.start_ms + row.duration_ms
        for row in rows
        if row.start_ms is not None and row.duration_ms is not None
    ]
    return Scale(max(1, cells), max(ends, default=0.0))


def bar(row: TraceRow, on: Scale) -> Bar | None:
    """Returns the place of a handler's bar; None for one that did not run."""
    if row.start_ms is None or row.duration_ms is None:
        return None
    first = on.cell(row.start_ms)
    end = max(first + 1, round((row.start_ms + row.duration_ms) / on.ms * on.cells) if on.ms else 1)
    end = min(end, on.cells)
    waited = min(row.run.queue_ms, row.duration_ms)
    queued = min(round(waited / on.ms * on.cells) if on.ms else 0, end - first - 1)
    return Bar(first, queued, end - first - queued)


def axis(on: Scale) -> str:
    """Returns the labels above the bars: 0, round times, and the unit at the last."""
    labels = [(0, "0")]
    if on.ms > 0:
        step = _step(on)
        times = [step * n for n in range(1, 100) if step * n <= on.ms * 1.001]
        labels += [(on.cell(time), f"{time:g}") for time in times]
    text = [" "] * on.cells
    last = len(labels) - 1
    free = on.cells
    for number, (cell, label) in reversed(list(enumerate(labels))):
        word = label + (UNIT if number == last else "")
        at = cell if number == 0 else cell - len(label) // 2
        at = max(0, min(at, on.cells - len(word)))
        if at + len(word) > free:
            continue
        text[at : at + len(word)] = word
        free = at - 1
    return "".join(text)


def _step(on: Scale) -> float:
    """Returns the smallest of 1, 2, 5, 10, 20, ... ms whose labels do not touch."""
    shortest_ms = on.ms * _SHORTEST_TICK / on.cells
    power = 10.0 ** math.floor(math.log10(shortest_ms))
    return float(f"{next(base * power for base in _STEPS if base * power >= shortest_ms):.6g}")
