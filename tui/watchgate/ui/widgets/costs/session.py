"""One session on its own: what it used by day and model, and who tells that."""

from __future__ import annotations

from datetime import tzinfo

from watchgate.core.usage import SessionUsage
from watchgate.ui.costs.figures import CostRow, date_of
from watchgate.ui.costs.sums import dollars
from watchgate.ui.deciding.consequences import title
from watchgate.ui.formats import UNKNOWN, clock, percent, tokens, width
from watchgate.ui.keys.shown_keys import key_for
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, model_name, named
from watchgate.ui.widgets.pane import Line, Pane

VALUE = 15
BAR, LONGEST = 34, 24
DAY, MODEL, COST_END, IN_END, OUT_END = 2, 15, 50, 60, 70
AIRY_FROM = 24


class CostSession(Pane):
    """Its page; scrolls when it has more lines than there are rows."""

    DEFAULT_CSS = "CostSession { height: 1fr; width: 1fr; }"

    def __init__(self, *, zone: tzinfo | None = None) -> None:
        super().__init__()
        self._zone = zone
        self._row: CostRow | None = None
        self._used: SessionUsage | None = None
        self._stale = False
        self._top = 0

    def show(self, row: CostRow | None, used: SessionUsage | None, *, stale: bool = False) -> None:
        """Show this session, with all that was ever told of it."""
        if (row, used, stale) == (self._row, self._used, self._stale):
            return
        if row is None or self._row is None or row.key != self._row.key:
            self._top = 0
        self._row, self._used, self._stale = row, used, stale
        self.redraw()

    def move(self, by: int) -> None:
        """Scroll by so many lines."""
        deepest = max(0, len(self._lines(self.size.width)) - self.size.height)
        self._top = min(max(0, self._top + by), deepest)
        self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        lines = self._lines(cells)
        self._top = min(self._top, max(0, len(lines) - rows))
        return lines[self._top :]

    def _lines(self, cells: int) -> list[Line]:
        row, used = self._row, self._used
        if row is None:
            return [self.line(), self.line().to(2).add("This session is gone.", self._quiet)]
        head = self.line().to(2).fit(named(row.label), max(8, cells - 30), self._ink, bold=True)
        head.add("   ").add(named(row.key[0]), self._quiet)
        lines = [head.right(f"{key_for('back')} ", "accent", bold=True).right("back ", self._quiet)]
        if self.size.height >= AIRY_FROM:
            lines.append(self.line())
        if used is None:
            who = title(row.key[0])
            lines.append(self._pair("cost", UNKNOWN, bold=True))
            return [
                *lines,
                self._pair("", f"{who} reports no usage: nothing is known of it", cells),
            ]
        lines.append(self._pair("cost", dollars(used.cost), bold=True))
        models = ", ".join(model_name(name, row.key[0]) for name in reversed(used.models))
        lines.append(self._pair("model", models or UNKNOWN, cells))
        lines.append(self._context_line(row, used))
        lines.append(self._pair("last told", clock(used.at, self._zone) if used.at else UNKNOWN))
        sources = ", ".join(dict.fromkeys(named(meter.source) for meter in used.meters))
        lines.append(self._pair("told by", sources or UNKNOWN, cells))
        return [*lines, *self._kinds(used), *self._days(used, cells)]

    @property
    def _ink(self) -> Token:
        return "off" if self._stale else "fg"

    @property
    def _quiet(self) -> Token:
        return "off" if self._stale else "dim"

    def _pair(self, label: str, value: str, cells: int = 0, *, bold: bool = False) -> Line:
        line = self.line().to(2).add(label, self._quiet).to(VALUE)
        room = max(width(value), 1) if not cells else cells - VALUE - 1
        return line.fit(value, room, self._ink, bold=bold)

    def _context_line(self, row: CostRow, used: SessionUsage) -> Line:
        if used.context_used is None:
            return self._pair("context", UNKNOWN)
        words = tokens(used.context_used)
        if used.context_size:
            words += f" of {tokens(used.context_size)}, {percent(row.context)}"
        return self._pair("context", words)

    def _kinds(self, used: SessionUsage) -> list[Line]:
        heading = self.line().to(2).add("where it went, all days", self._quiet)
        lines = [self.line(), heading]
        if used.tokens is None:
            return [*lines, self._pair(UNKNOWN, "no tokens are reported")]
        for word, number in (
            ("cache reads", used.tokens.cache_read),
            ("cache writes", used.tokens.cache_write),
            ("input", used.tokens.input),
            ("output", used.tokens.output),
        ):
            told = tokens(number)
            line = self.line().to(2).add(word, self._ink).to(BAR - 4 - len(told))
            line.add(told, self._ink, bold=True).to(BAR)
            share = number / max(1, used.tokens.all)
            lines.append(bar(line, share, LONGEST, "off" if self._stale else "accent"))
        if used.partial:
            words = "at least: its newest call is told each time, and calls between are not"
            lines.append(self.line().to(2).add(words, self._quiet))
        return lines

    def _days(self, used: SessionUsage, cells: int) -> list[Line]:
        head = self.line().to(DAY).add("day", self._quiet).to(MODEL).add("model", self._quiet)
        wide = cells > OUT_END
        names = (("cost", COST_END), ("in", IN_END), ("out", OUT_END))
        for word, end in names if wide else names[:1]:
            head.to(end - len(word)).add(word, self._quiet)
        lines = [self.line(), head]
        for part in reversed(used.spent):
            line = self.line().to(DAY).add(f"{date_of(part.day):%a %d %b}", self._quiet)
            line.to(MODEL).fit(model_name(part.model, part.agent), COST_END - MODEL - 12, self._ink)
            cost = dollars(part.cost)
            line.to(COST_END - len(cost)).add(cost, self._ink, bold=True)
            if wide:
                read = tokens(part.tokens.read if part.tokens else None)
                written = tokens(part.tokens.output if part.tokens else None)
                line.to(IN_END - len(read)).add(read, self._ink)
                line.to(OUT_END - len(written)).add(written, self._ink)
            lines.append(line)
        return lines
