"""What a benchmark reports: one figure per line, as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass


@dataclass(frozen=True)
class Figure:
    """A ratio of two measurements of one run, and the most it may be; None: only reported.

    Where a goal is absolute, `unit` names it; then the machine's speed counts.
    """

    name: str
    ratio: float
    limit: float | None
    detail: str
    unit: str = "x"

    @property
    def ok(self) -> bool:
        """Whether the ratio keeps its limit."""
        return self.limit is None or self.ratio <= self.limit


def line(figure: Figure) -> str:
    """The figure as one JSON object: name, ratio, limit, ok, detail."""
    fields = asdict(figure)
    fields["ratio"] = round(figure.ratio, 3)
    return json.dumps({**fields, "ok": figure.ok})


def report(figures: Iterable[Figure]) -> int:
    """Print each figure as it comes; the exit code, 1 when one broke its limit."""
    broken = 0
    for figure in figures:
        print(line(figure), flush=True)
        broken += not figure.ok
    return 1 if broken else 0


def interleaved_medians(cases: Sequence[Callable[[], float]], runs: int) -> list[float]:
    """The median of each case, taken in turns so that a busy neighbour burdens all alike."""
    samples: list[list[float]] = [[] for _ in cases]
    for _ in range(runs):
        for case, kept in zip(cases, samples, strict=True):
            kept.append(case())
    return [statistics.median(kept) for kept in samples]
