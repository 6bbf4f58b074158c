"""The top of the Costs screen: sums and rate limits, or usage sources while none is known."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.core.amounts import tokens
from watchgate.ui.costs.budgets import of_today
from watchgate.ui.costs.figures import Costs
from watchgate.ui.costs.marks import AT_LEAST, BRIEF
from watchgate.ui.costs.sums import Sum, dollars
from watchgate.ui.formats import width
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import unreadable, without
from watchgate.ui.widgets.pane import Line, Pane

AIRY_FROM = 100
WIDE, NARROW = (2, 16, 34, 50), (2, 13, 27, 40)
APART = 3


class CostTotals(Pane):
    """Four figures with their labels; at the right what is in none of them, or what marks mean."""

    DEFAULT_CSS = "CostTotals { height: 2; }"

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
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        figures = (
            ("today", costs.today),
            ("last 7 days", costs.week),
            (costs.month_name, costs.month),
            ("now, per hour", costs.hour),
        )
        places = WIDE if cells >= AIRY_FROM else NARROW
        labels = self.line()
        for place, (label, _) in zip(places, figures, strict=True):
            labels.to(place).add(label, quiet)
        lost = unreadable(costs.unreadable, whole=cells >= AIRY_FROM)
        budget = of_today(costs.budget, dollars(costs.today.cost))
        for words, bold in ((lost, False), (budget, True)):
            if words and _fits(labels, words, cells):
                labels.right(f"  {words} " if labels.right_cells else f"{words} ", ink, bold=bold)
        sums = tuple(known for _, known in figures)
        legend = BRIEF if any(known.mark for known in sums) and not labels.right_cells else ()
        if brief := next((words for words in legend if _fits(labels, words, cells)), ""):
            labels.right(f"{brief} ", quiet)
        values = self._values(places, sums)
        self._speed(values, costs, cells)
        words = without(costs)
        if words and values.left_cells + width(words) + APART + 1 <= cells:
            return [labels, values.right(f"{words} ", quiet)]
        values = self._values(places, sums, bound_sign=AT_LEAST)
        self._speed(values, costs, cells)
        return [labels, values]

    def _values(self, places: Sequence[int], sums: Sequence[Sum], *, bound_sign: str = "") -> Line:
        """Returns the figures below their labels, each lower bound with the sign for that."""
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        line = self.line()
        ends = (*places[1:], places[-1] + width("now, per hour") + 1)
        for place, end, known in zip(places, ends, sums, strict=True):
            line.to(place).add(dollars(known.cost), ink, bold=True)
            if known.cost is None:
                continue
            if known.at_least:
                line.add(bound_sign, ink)
            if known.mark and line.left_cells + len(known.mark) + 1 < end:
                line.add(f" {known.mark}", quiet)
        return line

    def _speed(self, line: Line, costs: Costs, cells: int) -> None:
        """Adds the tokens per minute, where there is room."""
        words = f"   {tokens(costs.tokens_per_min)} tokens/min"
        if costs.tokens_per_min and line.left_cells + len(words) + 1 <= cells:
            line.add(words, "off" if self._stale else "dim")


def _fits(line: Line, words: str, cells: int) -> bool:
    return line.left_cells + line.right_cells + width(words) + APART + 1 <= cells
