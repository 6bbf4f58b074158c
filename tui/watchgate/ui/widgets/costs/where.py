"""The costs as bars: by day, by model, by agent, and one session's by kind of tokens.

A day of which nothing is known has a `?` and no bar.
"""

from __future__ import annotations

from watchgate.core.amounts import UNKNOWN, plural, tokens
from watchgate.core.ledger.counted import Kinds
from watchgate.core.usage.meter import Tokens
from watchgate.core.usage.session import SessionUsage
from watchgate.ui.costs.figures import CostRow
from watchgate.ui.costs.marks import of_parts
from watchgate.ui.costs.sparks import of_turns, spark
from watchgate.ui.costs.sums import dollars, part_dollars
from watchgate.ui.formats import cut
from watchgate.ui.theming.palettes import Token
from watchgate.ui.widgets.costs.words import bar, named
from watchgate.ui.widgets.pane import Line, Pane

COST_END, COUNT_END, BAR, LONGEST = 30, 39, 36, 14
LABEL_CELLS = 20
LINES = 6
"""Its head, the kinds of tokens, and an empty line."""

Kind = tuple[str, int, int | None]
"""Its name, its tokens, and its nano-dollars where they are computed."""


class CostWhere(Pane):
    """One line per kind of tokens, the dearest first; what no table prices has its tokens alone."""

    DEFAULT_CSS = "CostWhere { height: 1fr; }"

    def __init__(self) -> None:
        super().__init__()
        self._row: CostRow | None = None
        self._used: SessionUsage | None = None
        self._stale = False

    def show(self, row: CostRow | None, used: SessionUsage | None, *, stale: bool = False) -> None:
        """Shows this session."""
        if (row, used, stale) != (self._row, self._used, self._stale):
            self._row, self._used, self._stale = row, used, stale
            self.redraw()

    def draw(self, cells: int, rows: int) -> list[Line]:
        row, used = self._row, self._used
        if row is None or rows < LINES:
            return []
        ink: Token = "off" if self._stale else "fg"
        quiet: Token = "off" if self._stale else "dim"
        label = "".join(cut(named(row.label), LABEL_CELLS))
        head = self.line().to(2).add(f"where it went, {label}", quiet)
        lines = [head, self.line()] if rows > LINES else [self.line(), head]
        if used is None or used.tokens is None:
            report = f"{UNKNOWN}  no tokens reported"
            return [*lines, self.line().to(2).fit(report, cells - 3, quiet)]
        whole = max(1, used.tokens.all)
        for word, number, cost in kinds(used.tokens, used.kinds):
            line = self.line().to(2).add(word, ink)
            token_count = tokens(number)
            if cost is not None:
                money = dollars(cost)
                line.to(COST_END - len(money)).add(money, ink, bold=True)
                line.to(COUNT_END - len(token_count)).add(token_count, quiet)
            else:
                line.to(COST_END - len(token_count)).add(token_count, ink, bold=True).to(BAR)
                bar(line, number / whole, LONGEST, "off" if self._stale else "accent")
            lines.append(line)
        remarks = [*self._turns(used, cells, quiet), *self._notes(used, quiet)]
        return [*lines, *remarks[: max(0, rows - len(lines))]]

    def _turns(self, used: SessionUsage, cells: int, quiet: Token) -> list[Line]:
        """Returns the newest turns as bars, with what the last one cost."""
        turns = used.turns
        if len(turns) < 2:
            return []
        shown = of_turns(turns, min(LONGEST, cells - BAR - 1))
        last = turns[-1]
        amount = part_dollars(last.cost) if last.cost is not None else tokens(last.tokens)
        line = self.line().to(2).add("newest turn", quiet).to(COST_END - len(amount))
        line.add(amount, quiet)
        if last.cost is not None:
            line.add(f" {of_parts(used, is_lower_bound=last.is_lower_bound)}", quiet)
        return [line.to(BAR).add(spark(shown), "faint")]

    def _notes(self, used: SessionUsage, quiet: Token) -> list[Line]:
        """Returns remarks that qualify these figures."""
        notes = []
        if used.subs:
            cost = sum(sub.cost or 0 for sub in used.subs)
            known = any(sub.cost is not None for sub in used.subs)
            subtotal = f"{dollars(cost)} {of_parts(used)}" if known else UNKNOWN
            notes.append(f"{plural(len(used.subs), 'sub-agent')}: {subtotal}")
        if used.kinds is not None and used.source == "reported":
            notes.append("computed by list prices, beside what is reported")
        if used.partial:
            notes.append("at least: the newest calls are told")
        return [self.line().to(2).add(each, quiet) for each in notes]


def kinds(used_tokens: Tokens, money: Kinds | None) -> list[Kind]:
    """Returns the kinds of tokens, those that cost or count the most first."""
    all_kinds: list[Kind] = [
        ("cache reads", used_tokens.cache_read, money.cache_read if money else None),
        ("output", used_tokens.output, money.output if money else None),
        ("cache writes", used_tokens.cache_write, money.cache_write if money else None),
        ("input", used_tokens.input, money.input if money else None),
    ]
    return sorted(all_kinds, key=lambda kind: (-(kind[2] or 0), -kind[1]))
