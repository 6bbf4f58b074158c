"""What a benchmark reports: one figure per line, as JSON."""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

BROKEN: Final = 3
"""The exit code of a file whose figures miss a limit; an exception has 1."""


class Beside(NamedTuple):
    """What a figure stands beside: what a user would pick instead, or the least that can be."""

    name: str
    value: float


@dataclass(frozen=True)
class Figure:
    """A median, what stood beside it in the same run, and the most that it may be.

    `limit` is on the ratio of the two where something stands beside it, else on the value; with
    `absolute` it is on the value anyhow, and then the machine's speed counts. None: only reported.
    """

    name: str
    value: float
    unit: str
    beside: Beside | None = None
    limit: float | None = None
    note: str = ""
    absolute: bool = False

    @property
    def ratio(self) -> float | None:
        """The value in terms of what stands beside it."""
        return self.value / self.beside.value if self.beside else None

    @property
    def limit_unit(self) -> str:
        """What the limit is on: `x` for the ratio, else the value's own unit."""
        return self.unit if self.absolute or not self.beside else "x"

    @property
    def ok(self) -> bool:
        """Whether the figure keeps its limit."""
        held = self.ratio if self.limit_unit == "x" else self.value
        return self.limit is None or held is None or held <= self.limit

    def told(self) -> dict[str, Any]:
        """The figure as JSON has it."""
        return {
            "name": self.name,
            "value": _rounded(self.value),
            "unit": self.unit,
            "beside": self.beside
            and {"name": self.beside.name, "value": _rounded(self.beside.value)},
            "ratio": None if self.ratio is None else _rounded(self.ratio),
            "limit": self.limit,
            "limit_unit": self.limit_unit,
            "ok": self.ok,
            "note": self.note,
        }


def report(figures: Iterable[Figure]) -> int:
    """Prints each figure as it comes; the exit code, `BROKEN` when one missed its limit."""
    broken = 0
    for figure in figures:
        print(json.dumps(figure.told()), flush=True)
        broken += not figure.ok
    return BROKEN if broken else 0


def left_out(name: str, why: str) -> None:
    """Tells of figures that cannot be measured here: which, and what they would need."""
    print(json.dumps({"left_out": name, "why": why}), flush=True)


def interleaved_medians(cases: Sequence[Callable[[], float]], runs: int) -> list[float]:
    """The median of each case, taken in turns so that a busy neighbour burdens all alike."""
    samples: list[list[float]] = [[] for _ in cases]
    for _ in range(runs):
        for case, kept in zip(cases, samples, strict=True):
            kept.append(case())
    return [statistics.median(kept) for kept in samples]


def quietest(case: Callable[[], float], goes: int = 5) -> Callable[[], float]:
    """A case that is over so soon that a neighbour can double it: the least of some goes."""
    return lambda: min(case() for _ in range(goes))


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
