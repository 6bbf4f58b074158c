"""The costs of one session: facts, kinds of tokens, days and models, turns, sub-agents."""

from __future__ import annotations

from datetime import tzinfo

from watchgate.core.usage.session import SessionUsage
from watchgate.ui.costs.figures import CostRow
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.session_facts import facts
from watchgate.ui.widgets.costs.session_parts import Parts
from watchgate.ui.widgets.costs.words import named
from watchgate.ui.widgets.pane import Line, Pane

VALUE = 15
AIRY_FROM = 24
TWO_COLUMNS_FROM = 116
"""From so many columns turns and sub-agents stand beside the kinds and days."""

RIGHT = 72


class CostSession(Pane):
    """The page of one session; it scrolls when it has more lines than there are rows."""

    DEFAULT_CSS = "CostSession { height: 1fr; width: 1fr; }"

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._row: CostRow | None = None
        self._used: SessionUsage | None = None
        self._prices = ""
        self._stale = False
        self._top = 0

    def show(
        self,
        row: CostRow | None,
        used: SessionUsage | None,
        *,
        prices: str = "",
        stale: bool = False,
    ) -> None:
        """Shows this session with its recorded usage; `prices` names the price table."""
        if (row, used, prices, stale) == (self._row, self._used, self._prices, self._stale):
            return
        if row is None or self._row is None or row.key != self._row.key:
            self._top = 0
        self._row, self._used, self._prices, self._stale = row, used, prices, stale
        self.redraw()

    def move(self, by: int) -> None:
        """Scrolls by so many lines."""
        deepest = max(0, len(self._lines(self.size.width)) - self.size.height)
        self._top = min(max(0, self._top + by), deepest)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        lines = self._lines(cells)
        self._top = min(self._top, max(0, len(lines) - rows))
        return lines[self._top :]

    def _lines(self, cells: int) -> list[Line]:
        row, used = self._row, self._used
        quiet: Token = "off" if self._stale else "dim"
        ink: Token = "off" if self._stale else "fg"
        if row is None:
            return [self.line(), self.line().to(2).add("This session is gone.", quiet)]
        head = self.line().to(2).fit(named(row.label), max(8, cells - 30), ink, bold=True)
        head.add("   ").add(named(row.key[0]), quiet)
        lines = [head.right(f"{key_for('back')} ", "accent", bold=True).right("back ", quiet)]
        if self.size.height >= AIRY_FROM:
            lines.append(self.line())
        for fact in facts(row, used, self._prices, self._zone):
            line = self.line().to(2).add(fact.label, quiet).to(VALUE)
            line.add(fact.value, ink, bold=True) if fact.value else line
            if fact.words:
                line.add("   " if fact.value else "")
                line.fit(fact.words, cells - line.left_cells - 1, fact.ink(quiet, ink))
            lines.append(line)
        if used is None:
            return lines
        if cells < TWO_COLUMNS_FROM:
            parts = Parts(self.inks, used, cells, self._zone, self._stale)
            return [*lines, self.line(), *parts.kinds(), *parts.turns_and_subs(), *parts.days()]
        left = Parts(self.inks, used, RIGHT - 3, self._zone, self._stale)
        right = Parts(self.inks, used, cells - RIGHT, self._zone, self._stale)
        columns = _side_by_side([*left.kinds(), *left.days()], right.turns_and_subs())
        return [*lines, self.line(), *columns]


def _side_by_side(left: list[Line], right: list[Line]) -> list[Line]:
    """Joins two columns of lines."""
    lines = []
    for number in range(max(len(left), len(right))):
        line = left[number] if number < len(left) else Line(right[0].colors)
        if number < len(right):
            line.to(RIGHT).join(right[number])
        lines.append(line)
    return lines
