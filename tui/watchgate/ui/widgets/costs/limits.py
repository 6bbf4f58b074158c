"""The top of the Costs screen: sums and rate limits, or usage sources while none is known."""

from __future__ import annotations

import msgspec

from watchgate.core.amounts import UNKNOWN
from watchgate.ui.costs.figures import Costs
from watchgate.ui.costs.limits import REPORTED, AgentLimits, Window
from watchgate.ui.formats import percent, width
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, named
from watchgate.ui.widgets.pane import Line, Pane

FILL = 8
FULL = 0.8
"""From so much of a window on, its percentage is bold."""


class CostLimits(Pane):
    """One line per agent; windows that do not fit are left out whole, bars before them."""

    DEFAULT_CSS = "CostLimits { height: auto; }"

    def __init__(self) -> None:
        super().__init__()
        self._limits: tuple[AgentLimits, ...] = ()
        self._stale = False
        self._names = 0

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows what is reported."""
        if (costs.limits, stale) != (self._limits, self._stale):
            self._limits, self._stale = costs.limits, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        shown = self._limits[:rows]
        self._names = max((width(named(each.agent)) for each in shown), default=0)
        return [self._line_of(each, cells) for each in shown]

    def _line_of(self, limits: AgentLimits, cells: int) -> Line:
        short = msgspec.structs.replace(
            limits, reported_words=limits.reported_words.removeprefix(REPORTED)
        )
        fewer = range(len(limits.windows) - 1, 0, -1)
        tried = [
            *((limits, True), (limits, False), (short, False)),
            *((msgspec.structs.replace(short, windows=limits.windows[:n]), False) for n in fewer),
        ]
        lines = (self._whole(each, bars=bars) for each, bars in tried)
        fitting = next((line for line in lines if line.left_cells < cells), None)
        return fitting or self._whole(
            msgspec.structs.replace(tried[-1][0], reported_words=""), bars=False
        )

    def _whole(self, limits: AgentLimits, *, bars: bool) -> Line:
        quiet: Token = "off" if self._stale else "dim"
        line = self.line().to(2).add(named(limits.agent), quiet).to(2 + self._names)
        for each in limits.windows:
            self._window(line.add("   "), each, bars=bars)
        return line.add(f"   {limits.reported_words}", quiet) if limits.reported_words else line

    def _window(self, line: Line, each: Window, *, bars: bool) -> None:
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        line.add(each.name, quiet)
        used = each.used
        if used is None:
            line.add(f" {UNKNOWN}", ink, bold=True)
        else:
            line.add(f" {percent(used)}", ink, bold=used >= FULL)
        if bars and used is not None:
            start = line.add(" ").left_cells
            bar(line, used, FILL, ink)
            line.add("─" * (start + FILL - line.left_cells), "faint")
        if each.words:
            line.add(f" {each.words}", quiet)
