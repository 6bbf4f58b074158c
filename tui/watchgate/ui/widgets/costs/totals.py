"""The figures at the top of the Costs screen: today, the week, the month, the last hour."""

from __future__ import annotations

from collections.abc import Sequence

from watchgate.ui.costs.figures import Costs
from watchgate.ui.costs.sums import AT_LEAST, Sum, dollars
from watchgate.ui.formats import width
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import without
from watchgate.ui.widgets.pane import Line, Pane

AIRY_FROM = 100
WIDE, NARROW = (2, 16, 34, 50), (2, 13, 27, 40)


class CostTotals(Pane):
    """Four figures with their labels, and at the right whose cost is in none of them."""

    DEFAULT_CSS = "CostTotals { height: 2; }"

    def __init__(self) -> None:
        super().__init__()
        self._costs: Costs | None = None
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Show these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        costs = self._costs
        if costs is None:
            return []
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        words = without(costs)
        labels = self.line()
        figures = (
            ("today", costs.today),
            ("last 7 days", costs.week),
            (costs.month_name, costs.month),
            ("now, per hour", Sum(costs.hour, costs.today.at_least)),
        )
        places = WIDE if cells >= AIRY_FROM else NARROW
        for place, (label, _) in zip(places, figures, strict=True):
            labels.to(place).add(label, quiet)
        sums = tuple(known for _, known in figures)
        values = self._values(places, sums, ink)
        if words and values.left_cells + width(words) + 4 <= cells:
            return [labels, values.right(f"{words} ", quiet)]
        return [labels, self._values(places, sums, ink, at_least=AT_LEAST)]

    def _values(
        self, places: Sequence[int], sums: Sequence[Sum], ink: Token, *, at_least: str = ""
    ) -> Line:
        """The figures below their labels, each that is a lower bound with the sign for that."""
        line = self.line()
        for place, known in zip(places, sums, strict=True):
            line.to(place).add(dollars(known.cost), ink, bold=True)
            if known.at_least and known.cost is not None:
                line.add(at_least, ink)
        return line
