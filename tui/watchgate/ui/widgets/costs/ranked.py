"""The costs as bars: by day, by model, by agent, and one session's by kind of tokens.

A day of which nothing is known has a `?` and no bar.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from watchgate.core.amounts import count
from watchgate.ui.costs.figures import WEEK, WINDOW_WORDS, Costs
from watchgate.ui.costs.marks import AT_LEAST
from watchgate.ui.costs.sums import Sum, written
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, model_name, named
from watchgate.ui.widgets.pane import Line, Pane

COST_END, MARK, BAR, LONGEST = 30, 31, 36, 14
MIN_AGENTS = 2
"""With fewer agents there is no list of their costs."""


class Entry(msgspec.Struct, frozen=True):
    """One line: a name, whether it is a known one, and its cost."""

    name: str
    known: bool
    sum: Sum


class CostRanked(Pane):
    """One line per name with its cost and a bar beside the dearest one's."""

    DEFAULT_CSS = "CostRanked { height: auto; }"

    def __init__(
        self, by: str, entries: Callable[[Costs], Sequence[Entry]], *, left: int = 2
    ) -> None:
        super().__init__()
        self._left = left
        self._by, self._entries_of = by, entries
        self._costs: Costs | None = None
        self._entries: Sequence[Entry] = ()
        self._stale = False

    def show(self, costs: Costs, *, stale: bool = False) -> None:
        """Shows these figures."""
        if (costs, stale) != (self._costs, self._stale):
            self._costs, self._stale = costs, stale
            self._entries = self._entries_of(costs)
            self.redraw()

    def lines_wanted(self, *, airy: bool) -> int:
        """Returns the lines that all names take; none where there is nothing to compare."""
        return len(self._entries) + (2 if airy else 1) if self._entries else 0

    def draw(self, cells: int, rows: int) -> list[Line]:
        costs, entries = self._costs, self._entries
        if costs is None or not entries or rows < 2:
            return []
        quiet: Token = "off" if self._stale else "dim"
        days = WINDOW_WORDS[max(costs.window, WEEK)]
        lines = [self.line().to(self._left).add(f"by {self._by}, {days}", quiet)]
        if rows >= len(entries) + 2:
            lines.append(self.line())
        room = rows - len(lines)
        fit = entries if len(entries) <= room else entries[: room - 1]
        dearest = max((each.sum.cost or 0 for each in entries), default=0)
        lines += [self._entry(each, dearest, quiet) for each in fit]
        if len(fit) < len(entries):
            left = len(entries) - len(fit)
            lines.append(self.line().to(self._left).add(f"{count(left)} more", quiet))
        return lines

    def _entry(self, entry: Entry, dearest: int, quiet: Token) -> Line:
        known = entry.sum
        ink: Token = quiet if self._stale or not entry.known else "fg"
        cost = written(known)
        line = self.line().to(self._left)
        shift = self._left - 2
        line.fit(entry.name, COST_END - len(cost) - 3, ink)
        line.to(shift + COST_END - len(cost)).add(cost, ink, bold=known.cost is not None)
        if known.cost is None:
            return line
        line.to(shift + MARK).add(known.mark + AT_LEAST * known.at_least, quiet)
        if known.cost:
            share = known.cost / dearest
            bar(line.to(shift + BAR), share, LONGEST, "off" if self._stale else "accent")
        return line


def by_model(costs: Costs) -> Sequence[Entry]:
    """Returns the cost of each model."""
    return [Entry(model_name(row.name, row.agent), bool(row.name), row.sum) for row in costs.models]


def by_agent(costs: Costs) -> Sequence[Entry]:
    """Returns the cost of each agent's sessions, where there are several agents."""
    if len(costs.agents) < MIN_AGENTS:
        return ()
    return [Entry(named(row.agent), True, row.sum) for row in costs.agents]
