"""The costs as bars: by day, by model, by agent, and one session's by kind of tokens.

A day of which nothing is known has a `?` and no bar.
"""

from __future__ import annotations

from watchgate.core.amounts import UNKNOWN
from watchgate.ui.costs.figures import Costs, date_of
from watchgate.ui.costs.sums import dollars
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import unknown_days
from watchgate.ui.widgets.pane import Line, Pane

EIGHTHS = " ▁▂▃▄▅▆▇█"
SCALE_END = 8
FIRST = 10
PITCH, BAR_CELLS = 4, 3
USUAL_BARS, MAX_BARS, FEWEST_BARS = 8, 14, 2
TALL_FROM = 26
AIRY_FROM = 13
NANO_CENT = 10_000_000


def days_in(cells: int) -> int:
    """Returns how many days fit side by side."""
    return max(1, min(30, (cells - FIRST - 1) // PITCH))


class CostDays(Pane):
    """Bars over an axis, today in accent; the highest and its half are named at the left."""

    DEFAULT_CSS = "CostDays { height: 1fr; width: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._costs: Costs | None = None
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        costs = self._costs
        if costs is None:
            return []
        quiet: Token = "off" if self._stale else "dim"
        words = unknown_days(costs, cells - FIRST - 1)
        airy = rows >= AIRY_FROM
        above = [self.line().to(SCALE_END - 6).add("by day", quiet)]
        if airy:
            above.append(self.line())
        words_rows = 0 if not words else 2 if airy else 1
        bars = min(USUAL_BARS if rows < TALL_FROM else MAX_BARS, rows - len(above) - 2 - words_rows)
        if bars < FEWEST_BARS and words:
            words, bars = "", bars + words_rows
        if bars < FEWEST_BARS:
            return []
        lines = [*above, *self._bars(costs, bars), *self._axis(costs)]
        if words:
            if airy:
                lines.append(self.line())
            lines.append(self.line().to(FIRST if airy else 2).fit(words, cells - FIRST - 1, quiet))
        return lines

    def _bars(self, costs: Costs, rows: int) -> list[Line]:
        quiet: Token = "off" if self._stale else "dim"
        top = _rounded(max((day.cost or 0 for day in costs.days), default=0))
        lines = []
        for row in range(rows):
            line = self.line()
            if row in (0, rows // 2):
                named = dollars(top if row == 0 else top // 2)
                line.to(SCALE_END - len(named)).add(named, quiet)
            for number, day in enumerate(costs.days):
                line.to(FIRST + number * PITCH)
                today = number == len(costs.days) - 1
                if day.cost is None:
                    line.add(f"{UNKNOWN}  " if row == rows - 1 else "   ", quiet)
                    continue
                eighths = min(8, max(0, _height(day.cost, top, rows) - 8 * (rows - 1 - row)))
                ink: Token = "accent" if today and not self._stale else "faint"
                line.add(EIGHTHS[eighths] * BAR_CELLS, ink)
            lines.append(line)
        return lines

    def _axis(self, costs: Costs) -> list[Line]:
        cells = len(costs.days) * PITCH - 1
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        line = self.line()
        for number, day in enumerate(costs.days):
            today = number == len(costs.days) - 1
            line.to(FIRST + number * PITCH)
            line.add(f"{date_of(day.day).day:02d}", ink if today else quiet, bold=today)
        return [self.line().to(FIRST).add("─" * cells, "faint"), line]


def _height(cost: int, top: int, rows: int) -> int:
    """Returns the height of a bar in eighths of a cell; what cost anything has one."""
    return max(1, round(8 * rows * cost / top)) if cost and top else 0


def _rounded(cost: int) -> int:
    """Returns the top of the scale: the dearest day, up to the next even cent."""
    return max(2 * NANO_CENT, -(-cost // (2 * NANO_CENT)) * 2 * NANO_CENT)
