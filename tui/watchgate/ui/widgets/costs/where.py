"""Where the tokens of one session went: read from the cache, written, read anew."""

from __future__ import annotations

from watchgate.ui.costs.figures import CostRow
from watchgate.ui.formats import UNKNOWN, cut, tokens
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, named
from watchgate.ui.widgets.pane import Line, Pane

COUNT_END, BAR, LONGEST = 30, 32, 14


class CostWhere(Pane):
    """One line per kind of tokens, the most first: agents tell no money of each."""

    DEFAULT_CSS = "CostWhere { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._row: CostRow | None = None
        self._stale = False

    def show(self, row: CostRow | None, *, stale: bool = False) -> None:
        """Show this session."""
        if (row, stale) != (self._row, self._stale):
            self._row, self._stale = row, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        row = self._row
        if row is None or rows < 6:
            return []
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        label = "".join(cut(named(row.label), 20))
        lines = [self.line().to(2).add(f"where it went, {label}", quiet), self.line()]
        if row.tokens is None:
            return [
                *lines,
                self.line().to(2).fit(f"{UNKNOWN}  no tokens reported", cells - 3, quiet),
            ]
        kinds = (
            ("cache reads", row.tokens.cache_read),
            ("output", row.tokens.output),
            ("cache writes", row.tokens.cache_write),
            ("input", row.tokens.input),
        )
        whole = max(1, row.tokens.all)
        for word, number in sorted(kinds, key=lambda kind: -kind[1]):
            told = tokens(number)
            line = self.line().to(2).add(word, ink).to(COUNT_END - len(told))
            line.add(told, ink, bold=True).to(BAR)
            lines.append(bar(line, number / whole, LONGEST, "off" if self._stale else "accent"))
        if row.partial and rows > len(lines):
            lines.append(self.line().to(2).add("at least: the newest calls are told", quiet))
        return lines
